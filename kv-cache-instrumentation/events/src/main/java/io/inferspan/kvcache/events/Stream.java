package io.inferspan.kvcache.events;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The sequence of batches of one publisher, and its gaps.
 *
 * <p>A publisher numbers its batches from 0. A number that is not above the last one means that the
 * publisher restarted: its cache is empty, so its pod's blocks are forgotten. If the publisher
 * replays, a gap is requested again and batches that arrive meanwhile are held. If it does not or
 * the replay fails, the pod's blocks are forgotten too, since the gap may contain removals. A
 * publisher that replays is then requested to repeat all its batches later, at growing intervals.
 *
 * <p>After a lost connection, a restarted publisher may have reached the same number. A publisher
 * that replays must therefore first repeat the last batch, whose timestamp makes it unique.
 *
 * <p>One worker's thread owns it; only {@link #arrived} and {@link #dropped} are for the receiver's
 * thread.
 */
final class Stream {

  private static final long NONE = -1;
  private static final int MOST_HELD = 10_000;
  private static final long MOST_HELD_BYTES = 8L << 20;
  private static final int MOST_DOUBLINGS = 5;

  /** A batch that waits for a replay. */
  private record Held(Message message, KvEventBatch batch) {}

  private final String pod;
  private final String endpoint;
  private final @Nullable String replayEndpoint;

  /** The last batch that the receiver dropped, and that of the run before. */
  private final AtomicLong dropped = new AtomicLong(NONE);

  private final AtomicLong droppedBefore = new AtomicLong(NONE);
  private long lastArrived = NONE;

  private final ArrayDeque<Held> held = new ArrayDeque<>();
  private long heldBytes;
  private long lastLive = NONE;
  private long lastApplied = NONE;
  private int lastChecksum;
  private int connection;
  private boolean joined;
  private Topic topic = Topic.NONE;
  private @Nullable Replay replay;
  private long noReplayBefore = System.nanoTime();
  private boolean lapsed;
  private int lapses;
  private long noRecoveryBefore = System.nanoTime();

  Stream(String pod, String endpoint, @Nullable String replayEndpoint) {
    this.pod = pod;
    this.endpoint = endpoint;
    this.replayEndpoint = replayEndpoint;
  }

  String pod() {
    return pod;
  }

  String endpoint() {
    return endpoint;
  }

  @Nullable String replayEndpoint() {
    return replayEndpoint;
  }

  /** Returns a checksum to compare batches by. */
  static int checksum(byte[] payload) {
    CRC32C sum = new CRC32C();
    sum.update(payload);
    return (int) sum.getValue() * 31 + payload.length;
  }

  /**
   * Notes a batch on a bound socket before it is queued or dropped.
   *
   * <p>The receiver must assign lost batches to a run of the publisher: when the worker reaches the
   * first batch of a new run, later ones of it may have been dropped already.
   */
  void arrived(long sequence) {
    if (sequence <= lastArrived) {
      droppedBefore.accumulateAndGet(dropped.getAndSet(NONE), Math::max);
    }
    lastArrived = sequence;
  }

  /** Notes that the batch that arrived was dropped, for {@link #quiet}. */
  void dropped(long sequence) {
    dropped.set(sequence);
  }

  /** Handles a live batch. */
  void live(Message message, KvEventBatch batch, StreamActions actions) {
    if (message.sequence() <= lastLive) {
      giveUp(actions);
      newLife(actions);
    }
    lastLive = message.sequence();
    topic = message.topic();
    if (replay == null) {
      settle(new Held(message, batch), actions);
    } else if (held.size() < MOST_HELD && heldBytes < MOST_HELD_BYTES) {
      held.add(new Held(message, batch));
      heldBytes += message.payload().length;
    } else {
      actions.counts().droppedBatches.increment();
      actions.watch(this);
    }
  }

  /** Gives up batches of an earlier run that were not applied. */
  private void giveUp(StreamActions actions) {
    long last = Math.max(lastLive, droppedBefore.getAndSet(NONE));
    long settled = replay == null ? lastApplied : replay.settled();
    actions.counts().missedBatches.add(last - settled);
    clearHeld();
  }

  private void newLife(StreamActions actions) {
    actions.counts().restarts.increment();
    cancelReplay();
    actions.invalidate(this);
    lastApplied = NONE;
    noReplayBefore = System.nanoTime();
    recovered();
  }

  /** Applies a batch if it is the next one, else handles the gap before it. */
  private void settle(Held next, StreamActions actions) {
    Message message = next.message();
    long missing = message.sequence() - lastApplied - 1;
    if (missing < 0) {
      return;
    }
    boolean replays = replayable();
    boolean recovers = mayRecover();
    boolean sameLife = lastApplied == NONE || message.connection() == connection;
    if (sameLife || !replays || recovers) {
      // Otherwise the number is only known once the publisher is identified.
      countMissed(missing, actions);
    }
    if (recovers) {
      hold(next);
      askForAll(message.sequence() - 1, actions);
    } else if (replays && (missing > 0 || !sameLife)) {
      hold(next);
      ask(message.sequence() - 1, sameLife, actions);
    } else {
      if (missing > 0 && joined && lastApplied != NONE) {
        forget(actions);
      }
      apply(message, next.batch(), actions);
    }
  }

  private void countMissed(long missing, StreamActions actions) {
    if (joined && missing > 0) {
      actions.counts().gaps.increment();
      actions.counts().missedBatches.add(missing);
    }
  }

  private void hold(Held next) {
    held.addFirst(next);
    heldBytes += next.message().payload().length;
  }

  private void ask(long through, boolean sameLife, StreamActions actions) {
    Replay.Mode mode =
        lastApplied == NONE ? Replay.Mode.LIFE : sameLife ? Replay.Mode.GAP : Replay.Mode.IDENTITY;
    long from = mode == Replay.Mode.IDENTITY ? lastApplied : lastApplied + 1;
    replay = new Replay(this, topic, from, through, mode, lastChecksum);
    actions.replay(replay);
  }

  private void askForAll(long through, StreamActions actions) {
    replay = new Replay(this, topic, 0, through, Replay.Mode.LIFE, 0);
    actions.replay(replay);
  }

  private boolean replayable() {
    return replayEndpoint != null && System.nanoTime() - noReplayBefore >= 0;
  }

  private boolean mayRecover() {
    return lapsed && replayable() && System.nanoTime() - noRecoveryBefore >= 0;
  }

  private void forget(StreamActions actions) {
    actions.invalidate(this);
    if (replayEndpoint != null) {
      lapsed = true;
      actions.watch(this);
    }
  }

  private void recovered() {
    lapsed = false;
    lapses = 0;
  }

  private void apply(Message message, KvEventBatch batch, StreamActions actions) {
    lastApplied = message.sequence();
    joined = true;
    if (replayEndpoint != null) {
      lastChecksum = checksum(message.payload());
    }
    if (message.replay() == null) {
      connection = message.connection();
      actions.counts().batches.increment();
    } else {
      actions.counts().replayedBatches.increment();
    }
    actions.apply(this, message, batch);
  }

  /** Handles a replayed batch; null if it could not be read. */
  void replayed(Message message, @Nullable KvEventBatch batch, StreamActions actions) {
    Replay answered = replay;
    if (answered == null || !answered.equals(message.replay())) {
      return;
    }
    if (lapsed && answered.mode() == Replay.Mode.LIFE) {
      // Everything is repeated from the beginning.
      lapsed = false;
      actions.invalidate(this);
      lastApplied = NONE;
    }
    if (message.sequence() <= lastApplied) {
      return;
    }
    if (batch == null) {
      failed(answered, actions);
    } else {
      apply(message, batch, actions);
    }
  }

  /** Handles the end of a replay. */
  void ended(Message message, StreamActions actions) {
    Replay ended = replay;
    if (ended == null || !ended.equals(message.replay())) {
      return;
    }
    switch (message.kind()) {
      case REPLAY_DONE -> {
        actions.counts().replays.increment();
        if (ended.mode() == Replay.Mode.LIFE) {
          recovered();
        }
        goOn(ended, actions);
      }
      case REPLAY_OF_ANOTHER_LIFE -> {
        // The held batches are from the restarted publisher.
        newLife(actions);
        joined = true;
        settleHeld(actions);
      }
      default -> failed(ended, actions);
    }
  }

  private void failed(Replay tried, StreamActions actions) {
    actions.counts().failedReplays.increment();
    long cooldownNanos = TimeUnit.MILLISECONDS.toNanos(actions.limits().cooldownMillis());
    noReplayBefore = System.nanoTime() + cooldownNanos;
    noRecoveryBefore = System.nanoTime() + (cooldownNanos << Math.min(lapses++, MOST_DOUBLINGS));
    boolean broughtNothing = lapsed && tried.mode() == Replay.Mode.LIFE;
    if (joined && !broughtNothing) {
      // A publisher that was just joined has no blocks in the index yet, so none can be wrong.
      actions.invalidate(this);
    }
    lapsed = true;
    actions.watch(this);
    goOn(tried, actions);
  }

  /** Continues with the held batches; those before them were delivered or given up. */
  private void goOn(Replay over, StreamActions actions) {
    cancelReplay();
    countMissed(over.through() - over.settled(), actions);
    lastApplied = Math.max(lastApplied, over.through());
    Held first = held.peekFirst();
    if (first != null) {
      connection = first.message().connection();
    }
    settleHeld(actions);
  }

  private void settleHeld(StreamActions actions) {
    while (replay == null && !held.isEmpty()) {
      Held next = held.removeFirst();
      heldBytes -= next.message().payload().length;
      settle(next, actions);
    }
  }

  /** Handles an empty queue: a dropped last batch is missing although none follows it. */
  void quiet(StreamActions actions) {
    if (replay != null) {
      actions.watch(this);
      return;
    }
    if (lapsed) {
      actions.watch(this);
    }
    long last = Math.max(dropped.getAndSet(NONE), lastLive);
    boolean missing = joined && last > lastApplied;
    if (missing) {
      lastLive = last;
      countMissed(last - lastApplied, actions);
    }
    if (mayRecover()) {
      askForAll(last, actions);
    } else if (missing && replayable()) {
      ask(last, true, actions);
    } else if (missing) {
      forget(actions);
      lastApplied = last;
    }
  }

  /** Handles the removal of the publisher. */
  void gone() {
    cancelReplay();
    clearHeld();
  }

  private void clearHeld() {
    held.clear();
    heldBytes = 0;
  }

  private void cancelReplay() {
    if (replay != null) {
      replay.cancelled().set(true);
      replay = null;
    }
  }
}
