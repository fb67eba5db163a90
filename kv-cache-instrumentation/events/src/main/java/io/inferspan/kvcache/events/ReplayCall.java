package io.inferspan.kvcache.events;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Requests a replay until it has delivered the batches or a limit is reached.
 *
 * <p>Replies are {@code [sequence, payload]} or {@code [topic, sequence, payload]}, with or without
 * a leading empty frame; an empty payload ends them.
 */
final class ReplayCall implements Runnable {

  private static final byte[] EMPTY = {};
  private static final int MOST_FRAMES = 4;
  private static final int SLICE_MILLIS = 50;

  /** A handshake that hangs, as JeroMQ's do, and one that does not. */
  private static final int GREETING_MILLIS = 2 * Receiver.HANDSHAKE_MILLIS;

  private static final long ROOM_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The outcome of an attempt. */
  private enum Outcome {
    COMPLETE,
    PUBLISHER_RESTARTED,
    NOT_YET
  }

  private final Replay replay;
  private final WorkQueue queue;
  private final ReplayPool pool;
  private final long deadline;
  private long expected;
  private boolean begun;

  ReplayCall(Replay replay, WorkQueue queue, ReplayPool pool) {
    this.replay = replay;
    this.queue = queue;
    this.pool = pool;
    this.expected = replay.from();
    this.deadline =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pool.options.replayLimits.totalMillis());
  }

  @Override
  public void run() {
    Message.Kind end = Message.Kind.REPLAY_FAILED;
    try {
      end = attempts();
    } catch (Throwable e) {
      // An endpoint that cannot be connected, or an internal error, Errors included.
      pool.counts.faults.add(e instanceof ZMQException ? 0 : 1);
    } finally {
      queue.signal(Message.ended(end, replay));
    }
  }

  private Message.Kind attempts() {
    int fruitless = 0;
    while (!stopped() && fruitless < pool.options.replayLimits.attempts()) {
      long before = expected;
      switch (attempt()) {
        case COMPLETE -> {
          return Message.Kind.REPLAY_DONE;
        }
        case PUBLISHER_RESTARTED -> {
          return Message.Kind.PUBLISHER_RESTARTED;
        }
        case NOT_YET -> {
          fruitless = expected > before ? 0 : fruitless + 1;
          pause(TimeUnit.MILLISECONDS.toNanos(pool.options.replayLimits.backoffMillis()));
        }
      }
    }
    return Message.Kind.REPLAY_FAILED;
  }

  private boolean stopped() {
    return pool.closing || replay.cancelled().get() || System.nanoTime() - deadline >= 0;
  }

  private void pause(long nanos) {
    long end = System.nanoTime() + nanos;
    while (!stopped() && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(Math.min(nanos, TimeUnit.MILLISECONDS.toNanos(SLICE_MILLIS)));
    }
  }

  private Outcome attempt() {
    String endpoint = replay.stream().replayEndpoint;
    if (endpoint == null) {
      return Outcome.NOT_YET;
    }
    ZMQ.Socket dealer = pool.context.socket(SocketType.DEALER);
    try {
      dealer.setLinger(0);
      dealer.setMaxMsgSize(pool.options.maxBatchBytes);
      dealer.setReceiveTimeOut(SLICE_MILLIS);
      dealer.setHandshakeIvl(Receiver.HANDSHAKE_MILLIS);
      dealer.setIPv6(endpoint.contains("["));
      CountDownLatch greeted = new CountDownLatch(1);
      dealer.setEventHook(event -> greeted.countDown(), zmq.ZMQ.ZMQ_EVENT_HANDSHAKE_PROTOCOL);
      dealer.connect(endpoint);
      if (!await(greeted)) {
        return Outcome.NOT_YET;
      }
      dealer.send(EMPTY, ZMQ.SNDMORE | ZMQ.DONTWAIT);
      dealer.send(ByteBuffer.allocate(Long.BYTES).putLong(expected).array(), ZMQ.DONTWAIT);
      return answers(dealer);
    } finally {
      dealer.close();
    }
  }

  /**
   * Waits for the publisher's greeting: until then it cannot have heard the question, so its
   * silence says nothing. Sending at once also makes JeroMQ's handshake hang more often.
   */
  private boolean await(CountDownLatch greeting) {
    long limitMillis = Math.max(GREETING_MILLIS, pool.options.replayLimits.idleMillis());
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

  private Outcome answers(ZMQ.Socket dealer) {
    long idleNanos = TimeUnit.MILLISECONDS.toNanos(pool.options.replayLimits.idleMillis());
    long lastHeard = System.nanoTime();
    while (!stopped()) {
      byte[] first = dealer.recv();
      if (first == null) {
        if (System.nanoTime() - lastHeard >= idleNanos) {
          return Outcome.NOT_YET;
        }
        continue;
      }
      lastHeard = System.nanoTime();
      Message reply = reply(frames(dealer, first));
      Outcome outcome = reply == null ? Outcome.NOT_YET : heard(reply);
      if (outcome != null) {
        return outcome;
      }
    }
    return Outcome.NOT_YET;
  }

  private static List<byte[]> frames(ZMQ.Socket dealer, byte[] first) {
    List<byte[]> frames = new ArrayList<>(MOST_FRAMES);
    byte[] frame = first;
    while (frame != null) {
      if (frames.size() <= MOST_FRAMES) {
        frames.add(frame);
      }
      frame = dealer.hasReceiveMore() ? dealer.recv() : null;
    }
    return frames;
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
  private @Nullable Outcome heard(Message reply) {
    boolean end = reply.payload().length == 0;
    if (replay.mode() == Replay.Mode.IDENTITY && !begun) {
      return end ? Outcome.PUBLISHER_RESTARTED : identity(reply);
    }
    if (end) {
      return replay.mode() == Replay.Mode.ALL ? Outcome.COMPLETE : Outcome.NOT_YET;
    }
    if (replay.mode() == Replay.Mode.ALL && !begun && reply.sequence() > expected) {
      expected = reply.sequence();
    }
    if (reply.sequence() != expected || !delivered(reply)) {
      return Outcome.NOT_YET;
    }
    begun = true;
    expected++;
    return expected > replay.through() ? Outcome.COMPLETE : null;
  }

  /** Checks whether the publisher still has the last applied batch, byte for byte. */
  private @Nullable Outcome identity(Message reply) {
    if (reply.sequence() != expected || Stream.checksum(reply.payload()) != replay.checksum()) {
      return Outcome.PUBLISHER_RESTARTED;
    }
    begun = true;
    expected++;
    return expected > replay.through() ? Outcome.COMPLETE : null;
  }

  private boolean delivered(Message reply) {
    while (!queue.offerReplayed(reply)) {
      if (stopped()) {
        return false;
      }
      LockSupport.parkNanos(ROOM_PAUSE_NANOS);
    }
    return true;
  }
}
