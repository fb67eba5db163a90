package io.inferspan.kvcache.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * The thread that owns the sockets and passes batches to the workers.
 *
 * <p>It does not decode batches, so that decoding does not delay the reading of sockets.
 */
final class Receiver implements Runnable {

  /** The limit of ZMQ sockets; JeroMQ's default of 1,024 is too low for a large fleet. */
  static final int MOST_SOCKETS = 16_384;

  private static final Logger LOG = System.getLogger(Receiver.class.getName());

  private static final int HIGH_WATER = 1000;
  private static final int POLL_MILLIS = 1000;
  private static final long FULL_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long FAULT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * JeroMQ reconnects when a handshake takes longer than this; its default is 30 s. JeroMQ 0.6
   * sometimes connects and never sends its greeting, in 1 to 5 of 100 connections on a busy machine
   * (zeromq/jeromq#1022).
   */
  static final int HANDSHAKE_MILLIS = 1000;

  private final ZMQ.Context context;
  private final KvEventOptions options;
  private final KvEventCounts counts;
  private final Function<String, Worker> workers;
  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final PendingSources pending;

  /** A pipe that wakes this thread when a byte is written to it. */
  private final Pipe bell;

  private ZMQ.@Nullable Poller current;
  private boolean faulted;
  private volatile boolean closing;

  Receiver(
      ZMQ.Context context,
      KvEventOptions options,
      KvEventCounts counts,
      Function<String, Worker> workers) {
    this.context = context;
    this.options = options;
    this.counts = counts;
    this.workers = workers;
    this.pending = new PendingSources(this, options.reconnect.toNanos());
    try {
      bell = Pipe.open();
      bell.source().configureBlocking(false);
      bell.sink().configureBlocking(false);
    } catch (IOException e) {
      throw new UncheckedIOException("No pipe could be opened", e);
    }
  }

  /** Binds a socket that publishers connect to. Call it before the thread starts. */
  void bind(String endpoint) {
    ZMQ.Socket socket = socket(endpoint);
    try {
      socket.bind(endpoint);
    } catch (ZMQException e) {
      socket.close();
      throw new IllegalArgumentException(
          "zmqEndpoint is \"" + endpoint + "\"; it could not be bound: " + e.getMessage(), e);
    }
    subscriptions.add(new Subscription(socket, null, workers, counts));
  }

  /** Subscribes to a publisher. Callable from any thread. */
  void add(EventSource source) {
    execute(() -> pending.add(source));
  }

  /** Unsubscribes from a pod's publishers. Callable from any thread. */
  void remove(String pod) {
    execute(() -> disconnect(pod));
  }

  /** Returns how many publishers are not subscribed yet. Callable from any thread. */
  int waiting() {
    return pending.size();
  }

  void close() {
    closing = true;
    execute(() -> {});
  }

  /** Runs a command on this thread. Callable from any thread. */
  void execute(Runnable command) {
    commands.add(command);
    try {
      bell.sink().write(ByteBuffer.allocate(1));
    } catch (IOException e) {
      // The thread also polls once a second.
      return;
    }
  }

  @Override
  public void run() {
    try {
      while (!closing) {
        round();
      }
    } finally {
      pending.close();
      changed();
      subscriptions.forEach(each -> each.socket().close());
      closeBell();
    }
  }

  /**
   * Polls and reads the sockets once, and runs commands. Catches Errors as well, because a fault
   * with one publisher must not stop the others.
   */
  private void round() {
    try {
      ZMQ.Poller poller = poller();
      poller.poll(POLL_MILLIS);
      receive(poller);
      if (poller.pollin(0)) {
        drain();
      }
      runCommands();
    } catch (Throwable e) {
      counts.increment(KvEventCount.FAULTS);
      if (!faulted) {
        faulted = true;
        LOG.log(Level.WARNING, "A fault while receiving KV events; later ones are only counted", e);
      }
      LockSupport.parkNanos(FAULT_PAUSE_NANOS);
    }
  }

  private void receive(ZMQ.Poller poller) {
    boolean waits = false;
    int taken = 0;
    for (int i = 0; i < subscriptions.size(); i++) {
      if (poller.pollin(i + 1)) {
        waits = true;
        taken += subscriptions.get(i).receive();
      }
    }
    if (waits && taken == 0) {
      // All readable sockets wait for workers with full queues, so polling again would only spin.
      LockSupport.parkNanos(FULL_PAUSE_NANOS);
    }
  }

  private ZMQ.Poller poller() {
    ZMQ.Poller poller = current;
    if (poller == null) {
      poller = context.poller(subscriptions.size() + 1);
      poller.register(bell.source(), ZMQ.Poller.POLLIN);
      for (Subscription each : subscriptions) {
        poller.register(each.socket(), ZMQ.Poller.POLLIN);
      }
      current = poller;
    }
    return poller;
  }

  /** Discards the poller, so that the next one has the current subscriptions. */
  private void changed() {
    if (current != null) {
      current.close();
      current = null;
    }
  }

  /** Reads all wake-up bytes; those left would wake the thread again and again. */
  private void drain() {
    ByteBuffer bytes = ByteBuffer.allocate(256);
    try {
      while (bell.source().read(bytes.clear()) > 0) {}
    } catch (IOException e) {
      counts.increment(KvEventCount.FAULTS);
    }
  }

  private void runCommands() {
    for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
      next.run();
    }
  }

  /** Connects {@code socket} to a publisher and subscribes; throws if the socket cannot connect. */
  void subscribe(EventSource source, ZMQ.Socket socket) {
    Worker worker = workers.apply(source.pod());
    Stream stream = new Stream(source.pod(), source.endpoint(), source.replayEndpoint(), worker);
    Subscription each = new Subscription(socket, stream, workers, counts);
    socket.setEventHook(event -> each.connected(), zmq.ZMQ.ZMQ_EVENT_CONNECTED);
    socket.connect(source.endpoint());
    subscriptions.add(each);
    changed();
  }

  private void disconnect(String pod) {
    pending.remove(pod);
    for (Iterator<Subscription> all = subscriptions.iterator(); all.hasNext(); ) {
      Subscription each = all.next();
      if (each.isOf(pod)) {
        changed();
        all.remove();
        each.socket().close();
        each.removed();
      } else {
        each.forget(pod);
      }
    }
  }

  /** Opens a socket for an endpoint; throws if none is available. */
  ZMQ.Socket socket(String endpoint) {
    ZMQ.Socket socket = context.socket(SocketType.SUB);
    socket.setLinger(0);
    socket.setRcvHWM(HIGH_WATER);
    socket.setMaxMsgSize(options.maxBatchBytes);
    socket.setReconnectIVL((int) options.reconnect.toMillis());
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setTCPKeepAlive(1);
    socket.setIPv6(endpoint.contains("["));
    socket.subscribe(options.topicFilter.getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  /**
   * Closes the pipe that wakes this thread. Called by another thread only if this thread was never
   * started.
   */
  void closeBell() {
    try {
      bell.sink().close();
      bell.source().close();
    } catch (IOException e) {
      counts.increment(KvEventCount.FAULTS);
    }
  }
}
