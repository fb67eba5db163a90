package io.inferspan.kvcache.soak;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.kvcache.events.EventBytes;
import io.inferspan.kvcache.events.EventSource;
import io.inferspan.kvcache.index.PodEntry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * An engine that publishes the changes of its cache over real sockets: it loses some batches on the
 * way and replays them, and restarts now and then.
 *
 * <p>It publishes only while a subscriber listens, so that a missing batch is one that it lost.
 */
final class SoakEngine implements Runnable, AutoCloseable {

  private static final long END = -1;
  private static final int PACE_MILLIS = 4;
  private static final int SURE_BATCHES = 20;
  private static final int LOSES_ONE_IN = 60;
  private static final int BIND_ATTEMPTS = 500;

  private static final int LEAST_PORT = 20_000;
  private static final int PORTS = 12_000;
  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger((int) (ProcessHandle.current().pid() * 40 % PORTS));

  private final int port = freePort();
  private final int replayPort = freePort();
  private final String pod = "127.0.0.1:" + port;
  private final Random random;
  private final EngineCache cache;
  private final int restartsOneIn;
  private final Thread thread = new Thread(this, "soak-engine");
  private final List<byte[]> life = new ArrayList<>();
  private final AtomicInteger lives = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private volatile boolean ending;
  private volatile boolean ended;
  private volatile boolean closed;
  private volatile @Nullable Throwable fault;
  private volatile boolean heard;

  SoakEngine(Prompts prompts, long seed, int restartsOneIn) {
    this.random = new Random(seed);
    this.cache = new EngineCache(prompts, random);
    this.restartsOneIn = restartsOneIn;
    thread.setDaemon(true);
    thread.start();
  }

  EventSource source() {
    return new EventSource(pod, "tcp://127.0.0.1:" + port, "tcp://127.0.0.1:" + replayPort);
  }

  String pod() {
    return pod;
  }

  int restarts() {
    return lives.get() - 1;
  }

  int lost() {
    return lost.get();
  }

  /** Publishes one batch more, which is not lost, and then changes no more; it still replays. */
  void end() {
    ending = true;
  }

  boolean hasEnded() {
    Throwable failed = fault;
    if (failed != null) {
      throw new IllegalStateException("an engine broke", failed);
    }
    return ended;
  }

  /** Describes the engine's state for a test that times out. */
  @Override
  public String toString() {
    return pod
        + (ended ? " has ended" : heard ? " publishes" : " has no subscriber")
        + (thread.isAlive() ? "" : ", its thread is gone")
        + ", life "
        + lives
        + ", batch "
        + life.size();
  }

  /** Adds the engine's contents, once it {@linkplain #hasEnded() has ended}. */
  void addTo(Map<Long, Set<PodEntry>> expected) {
    cache.addTo(pod, expected);
  }

  @Override
  public void run() {
    try {
      while (!closed) {
        ZContext context = new ZContext();
        context.setLinger(0);
        AtomicBoolean broken = new AtomicBoolean();
        context.setUncaughtExceptionHandler((thread, fault) -> broken.set(true));
        context.setNotificationExceptionHandler((thread, fault) -> {});
        live(context, broken);
        bury(context);
      }
    } catch (RuntimeException | AssertionError e) {
      // JeroMQ asserts.
      fault = e;
    }
  }

  /** From start to crash. */
  private void live(ZContext context, AtomicBoolean broken) {
    lives.incrementAndGet();
    cache.restart();
    life.clear();
    heard = false;
    ZMQ.Socket publisher = bound(context, SocketType.XPUB, port);
    ZMQ.Socket replayer = bound(context, SocketType.ROUTER, replayPort);
    try (ZMQ.Poller poller = context.createPoller(2)) {
      poller.register(publisher, ZMQ.Poller.POLLIN);
      poller.register(replayer, ZMQ.Poller.POLLIN);
      boolean crashed = false;
      while (!closed && !crashed && (ended || !broken.get())) {
        poller.poll(PACE_MILLIS);
        if (poller.pollin(0)) {
          heard = publisher.recv()[0] == 1;
        }
        if (poller.pollin(1)) {
          replay(replayer);
        }
        if (heard && !ended) {
          publish(publisher);
          crashed = !ended && random.nextInt(restartsOneIn) == 0;
        }
      }
    }
  }

  /**
   * Closes a run's sockets while the next run starts: after a failed assertion in JeroMQ's own
   * thread, closing never returns.
   */
  private static void bury(ZContext context) {
    Thread end = new Thread(context::close, "soak-engine-end");
    end.setDaemon(true);
    end.start();
  }

  private void publish(ZMQ.Socket publisher) {
    boolean last = ending;
    byte[] payload = EventBytes.pack(List.of(System.currentTimeMillis() / 1e3, cache.next()));
    life.add(payload);
    if (!last && life.size() > SURE_BATCHES && random.nextInt(LOSES_ONE_IN) == 0) {
      lost.incrementAndGet();
    } else {
      publisher.sendMore(topic());
      publisher.sendMore(number(life.size() - 1));
      publisher.send(payload);
    }
    ended = last;
  }

  private byte[] topic() {
    return ("kv@" + pod + "@" + Prompts.MODEL).getBytes(UTF_8);
  }

  private void replay(ZMQ.Socket replayer) {
    byte[] whose = replayer.recv();
    replayer.recv();
    long from = ByteBuffer.wrap(replayer.recv()).getLong();
    for (long i = from; i < life.size(); i++) {
      answer(replayer, whose, i, life.get((int) i));
    }
    answer(replayer, whose, END, new byte[0]);
  }

  private void answer(ZMQ.Socket replayer, byte[] whose, long sequence, byte[] payload) {
    replayer.sendMore(whose);
    replayer.sendMore(new byte[0]);
    replayer.sendMore(number(sequence));
    replayer.send(payload);
  }

  private static byte[] number(long sequence) {
    return ByteBuffer.allocate(Long.BYTES).putLong(sequence).array();
  }

  /** The port of a socket that was just closed may still be taken for a moment. */
  private static ZMQ.Socket bound(ZContext context, SocketType type, int port) {
    for (int attempt = 1; ; attempt++) {
      ZMQ.Socket socket = context.createSocket(type);
      try {
        socket.bind("tcp://127.0.0.1:" + port);
        return socket;
      } catch (ZMQException e) {
        socket.close();
        if (attempt == BIND_ATTEMPTS) {
          throw e;
        }
        pause(PACE_MILLIS);
      }
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A port that no outgoing connection takes while the engine is down: below those of Linux. */
  private static int freePort() {
    int port = 0;
    while (port == 0) {
      port = freeOrZero(LEAST_PORT + NEXT_PORT.getAndIncrement() % PORTS);
    }
    return port;
  }

  private static int freeOrZero(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      // Another process has it.
      return 0;
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
