package io.inferspan.kvcache.events;

import io.inferspan.kvcache.events.Replay.Mode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** Runs a limited number of replays at once; the others wait. */
final class ReplayPool {

  private static final long KEEP_SECONDS = 5;
  private static final byte[] EMPTY = {};
  private static final int MOST_FRAMES = 4;
  private static final int SLICE_MILLIS = 50;

  /** The time to wait for a publisher's greeting: one hanging handshake of JeroMQ and its retry. */
  private static final int GREETING_MILLIS = 2 * Receiver.HANDSHAKE_MILLIS;

  private static final long ROOM_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ZMQ.Context context;
  private final int maxBatchBytes;
  private final Replay.Limits limits;
  private final KvEventCounts counts;
  private final ThreadPoolExecutor threads;
  private volatile boolean closing;

  ReplayPool(ZMQ.Context context, KvEventOptions options, KvEventCounts counts) {
    this.context = context;
    this.maxBatchBytes = options.maxBatchBytes;
    this.limits = options.replayLimits;
    this.counts = counts;
    // A stream has at most one replay, so the queue is at most the number of publishers.
    this.threads =
        new ThreadPoolExecutor(
            limits.atOnce(),
            limits.atOnce(),
            KEEP_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Threads.named("inferspan-kv-replay-"));
    threads.allowCoreThreadTimeOut(true);
  }

  void start(Replay replay, WorkQueue queue) {
    if (!closing) {
      threads.execute(new Call(replay, queue));
    }
  }

  /**
   * Stops all replays without interrupting their threads, which would close their sockets. Returns
   * whether they ended in time.
   */
  boolean close(long waitMillis) throws InterruptedException {
    closing = true;
    threads.shutdown();
    threads.getQueue().clear();
    return threads.awaitTermination(waitMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * Requests a replay until it has delivered the batches or a limit is reached.
   *
   * <p>Replies are {@code [sequence, payload]} or {@code [topic, sequence, payload]}, with or
   * without a leading empty frame; an empty payload ends them.
   */
  private final class Call implements Runnable {

    private final Replay replay;
    private final WorkQueue queue;
    private final long deadline =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.totalMillis());
    private long expected;
    private boolean begun;

    Call(Replay replay, WorkQueue queue) {
      this.replay = replay;
      this.queue = queue;
      this.expected = replay.from();
    }

    @Override
    public void run() {
      Message.Kind end = Message.Kind.REPLAY_FAILED;
      try {
        end = attempts();
      } catch (Throwable e) {
        // A ZMQException means that the endpoint cannot be connected; any other exception is an
        // internal error.
        counts.add(KvEventCount.FAULTS, e instanceof ZMQException ? 0 : 1);
      } finally {
        queue.signal(Message.ended(end, replay));
      }
    }

    private Message.Kind attempts() {
      int fruitless = 0;
      while (!stopped() && fruitless < limits.attempts()) {
        long before = expected;
        Message.Kind end = attempt();
        if (end != Message.Kind.REPLAY_FAILED) {
          return end;
        }
        fruitless = expected > before ? 0 : fruitless + 1;
        pause(TimeUnit.MILLISECONDS.toNanos(limits.backoffMillis()));
      }
      return Message.Kind.REPLAY_FAILED;
    }

    private boolean stopped() {
      return closing || replay.cancelled().get() || System.nanoTime() - deadline >= 0;
    }

    private void pause(long nanos) {
      long end = System.nanoTime() + nanos;
      while (!stopped() && System.nanoTime() - end < 0) {
        LockSupport.parkNanos(Math.min(nanos, TimeUnit.MILLISECONDS.toNanos(SLICE_MILLIS)));
      }
    }

    private Message.Kind attempt() {
      String endpoint = replay.stream().replayEndpoint;
      if (endpoint == null) {
        return Message.Kind.REPLAY_FAILED;
      }
      ZMQ.Socket dealer = context.socket(SocketType.DEALER);
      try {
        dealer.setLinger(0);
        dealer.setMaxMsgSize(maxBatchBytes);
        dealer.setReceiveTimeOut(SLICE_MILLIS);
        dealer.setHandshakeIvl(Receiver.HANDSHAKE_MILLIS);
        dealer.setIPv6(endpoint.contains("["));
        CountDownLatch greeted = new CountDownLatch(1);
        dealer.setEventHook(event -> greeted.countDown(), zmq.ZMQ.ZMQ_EVENT_HANDSHAKE_PROTOCOL);
        dealer.connect(endpoint);
        if (!await(greeted)) {
          return Message.Kind.REPLAY_FAILED;
        }
        dealer.send(EMPTY, ZMQ.SNDMORE | ZMQ.DONTWAIT);
        dealer.send(ByteBuffer.allocate(Long.BYTES).putLong(expected).array(), ZMQ.DONTWAIT);
        return replies(dealer);
      } finally {
        dealer.close();
      }
    }

    /**
     * Waits for the publisher's greeting. Before the greeting the publisher cannot receive the
     * request, so a missing reply means nothing. Sending earlier also makes JeroMQ's handshake hang
     * more often.
     */
    private boolean await(CountDownLatch greeting) {
      long limitMillis = Math.max(GREETING_MILLIS, limits.idleMillis());
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
      try {
        while (!stopped() && System.nanoTime() - end < 0) {
          if (greeting.await(SLICE_MILLIS, TimeUnit.MILLISECONDS)) {
            return true;
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return false;
    }

    private Message.Kind replies(ZMQ.Socket dealer) {
      long idleNanos = TimeUnit.MILLISECONDS.toNanos(limits.idleMillis());
      long last = System.nanoTime();
      while (!stopped() && System.nanoTime() - last < idleNanos) {
        List<byte[]> frames = Subscription.frames(dealer, 0, MOST_FRAMES);
        if (!frames.isEmpty()) {
          last = System.nanoTime();
          Message reply = reply(frames);
          Message.Kind end = reply == null ? Message.Kind.REPLAY_FAILED : handle(reply);
          if (end != null) {
            return end;
          }
        }
      }
      return Message.Kind.REPLAY_FAILED;
    }

    private @Nullable Message reply(List<byte[]> frames) {
      int size = frames.size();
      boolean delimited = size == MOST_FRAMES && frames.get(0).length == 0;
      if (size < 2 || size > MOST_FRAMES || (size == MOST_FRAMES && !delimited)) {
        return null;
      }
      byte[] sequence = frames.get(size - 2);
      if (sequence.length != Long.BYTES) {
        return null;
      }
      byte[] named = size == 2 ? EMPTY : frames.get(size - 3);
      Topic topic = named.length == 0 ? replay.topic() : Topic.of(named);
      return Message.replayed(
          replay, ByteBuffer.wrap(sequence).getLong(), topic, frames.get(size - 1));
    }

    /** Handles a reply; returns null if more replies are needed. */
    private Message.@Nullable Kind handle(Message reply) {
      boolean end = reply.payload().length == 0;
      boolean identifies = replay.mode() == Mode.IDENTITY && !begun;
      if (identifies && (end || !isLastApplied(reply))) {
        return Message.Kind.PUBLISHER_RESTARTED;
      }
      if (end) {
        return replay.mode() == Mode.ALL ? Message.Kind.REPLAY_DONE : Message.Kind.REPLAY_FAILED;
      }
      if (replay.mode() == Mode.ALL && !begun && reply.sequence() > expected) {
        expected = reply.sequence();
      }
      if (reply.sequence() != expected || (!identifies && !delivered(reply))) {
        return Message.Kind.REPLAY_FAILED;
      }
      begun = true;
      expected++;
      return expected > replay.through() ? Message.Kind.REPLAY_DONE : null;
    }

    /** Returns whether the publisher still has the last applied batch, byte for byte. */
    private boolean isLastApplied(Message reply) {
      return reply.sequence() == expected && Stream.checksum(reply.payload()) == replay.checksum();
    }

    private boolean delivered(Message reply) {
      while (!queue.offer(reply, 2)) {
        if (stopped()) {
          return false;
        }
        LockSupport.parkNanos(ROOM_PAUSE_NANOS);
      }
      return true;
    }
  }
}
