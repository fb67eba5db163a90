package io.inferspan.kvcache.events;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the sequence numbers of one publisher's batches, and handles gaps and restarts.
 *
 * <p>A publisher numbers its batches from 0. If a number is not above the last one, the publisher
 * has restarted with an empty cache, and the pod's blocks are forgotten.
 *
 * <p>After a gap, a replay of the missing batches is requested, and batches that arrive meanwhile
 * are held. If the publisher has no replay endpoint or the replay fails, the pod's blocks are
 * forgotten, because the gap may contain removals. After a failed replay, a replay of all batches
 * is requested later, at growing intervals.
 *
 * <p>While a connection was lost, a publisher may have restarted and reached the expected number. A
 * replay after a lost connection therefore begins with the last applied batch, whose timestamp
 * makes it unique, and compares it.
 *
 * <p>Call {@link #arrived} and {@link #dropped} on the receiver's thread, and all other methods on
 * the thread of one worker.
 */
final class Stream {

  private static final long NONE = -1;
  private static final int MOST_HELD = 10_000;
  private static final long MOST_HELD_BYTES = 8L << 20;
  private static final int MOST_DOUBLINGS = 5;

  /** A batch that waits for a replay. */
  private record Held(Message message, KvEventBatch batch) {}

  /** The worker's operations for a stream. */
  interface Actions {

    KvEventCounts counts();

    Replay.Limits limits();

    /** Applies a batch to the index. */
    void apply(Stream stream, Message message, KvEventBatch batch);

    /** Forgets all blocks of the stream's pod. */
    void invalidate(Stream stream);

    /** Starts a replay. */
    void replay(Replay replay);

    /** Calls {@link Stream#idle} once the queue is empty. */
    void watch(Stream stream);
  }

  final String pod;
  final String endpoint;
  final @Nullable String replayEndpoint;
  private final Actions actions;

  /** The sequence number of the last dropped batch since the publisher's latest restart. */
  private final AtomicLong dropped = new AtomicLong(NONE);

  /** The sequence number of the last dropped batch before the publisher's latest restart. */
  private final AtomicLong droppedBefore = new AtomicLong(NONE);

  private long lastArrived = NONE;

  private final ArrayDeque<Held> held = new ArrayDeque<>();
  private long heldBytes;
  private long lastLive = NONE;
  private long lastApplied = NONE;
  private int lastChecksum;
  private int connection;

  /** True once a batch was applied; batches before it are not missing. */
  private boolean joined;

  private Topic topic = Topic.NONE;
  private @Nullable Replay replay;
  private long noReplayBefore = System.nanoTime();

  /**
   * True if blocks of the pod may be missing in the index, so that a replay of all batches is due.
   */
  private boolean incomplete;

  private int recoveries;
  private long noRecoveryBefore = System.nanoTime();

  Stream(String pod, String endpoint, @Nullable String replayEndpoint, Actions actions) {
    this.pod = pod;
    this.endpoint = endpoint;
    this.replayEndpoint = replayEndpoint;
    this.actions = actions;
  }

  /** Returns a checksum for comparing batches. */
  static int checksum(byte[] payload) {
    CRC32C sum = new CRC32C();
    sum.update(payload);
    return (int) sum.getValue() * 31 + payload.length;
  }

  /**
   * Notes a batch on a bound socket before it is queued or dropped.
   *
   * <p>It separates batches dropped before and after a restart of the publisher. The worker cannot:
   * when it processes the first batch after the restart, the receiver may have dropped later ones
   * already.
   */
  void arrived(long sequence) {
    if (sequence <= lastArrived) {
      droppedBefore.accumulateAndGet(dropped.getAndSet(NONE), Math::max);
    }
    lastArrived = sequence;
  }

  /** Notes that the batch that arrived was dropped, for {@link #idle}. */
  void dropped(long sequence) {
    dropped.set(sequence);
  }

  /** Handles a live batch. */
  void live(Message message, KvEventBatch batch) {
    if (message.sequence() <= lastLive) {
      countUnapplied();
      publisherRestarted();
    }
    lastLive = message.sequence();
    topic = message.topic();
    if (replay == null) {
      handle(new Held(message, batch));
    } else if (held.size() < MOST_HELD && heldBytes < MOST_HELD_BYTES) {
      held.add(new Held(message, batch));
      heldBytes += message.payload().length;
    } else {
      actions.counts().increment(KvEventCount.DROPPED_BATCHES);
      actions.watch(this);
    }
  }

  /** Counts as missed the batches before the restart that were not applied. */
  private void countUnapplied() {
    long last = Math.max(lastLive, droppedBefore.getAndSet(NONE));
    long accounted = replay == null ? lastApplied : replay.accounted();
    actions.counts().add(KvEventCount.MISSED_BATCHES, last - accounted);
    clearHeld();
  }

  private void publisherRestarted() {
    actions.counts().increment(KvEventCount.RESTARTS);
    cancelReplay();
    actions.invalidate(this);
    lastApplied = NONE;
    noReplayBefore = System.nanoTime();
    recovered();
  }

  /** Applies a batch if it is the next one, else handles the gap before it. */
  private void handle(Held next) {
    Message message = next.message();
    long missing = message.sequence() - lastApplied - 1;
    if (missing < 0) {
      return;
    }
    boolean replays = replayable();
    boolean recovers = mayRecover();
    boolean sameRun = lastApplied == NONE || message.connection() == connection;
    if (sameRun || !replays || recovers) {
      // Else they are counted after the replay, which shows whether the publisher has restarted: if
      // so, other batches are missing.
      countMissed(missing);
    }
    if (recovers) {
      hold(next);
      requestAll(message.sequence() - 1);
    } else if (replays && (missing > 0 || !sameRun)) {
      hold(next);
      requestReplay(message.sequence() - 1, sameRun);
    } else {
      if (missing > 0 && joined && lastApplied != NONE) {
        forget();
      }
      apply(message, next.batch());
    }
  }

  private void countMissed(long missing) {
    if (joined && missing > 0) {
      actions.counts().increment(KvEventCount.GAPS);
      actions.counts().add(KvEventCount.MISSED_BATCHES, missing);
    }
  }

  private void hold(Held next) {
    held.addFirst(next);
    heldBytes += next.message().payload().length;
  }

  private void requestReplay(long through, boolean sameRun) {
    Replay.Mode mode =
        lastApplied == NONE ? Replay.Mode.ALL : sameRun ? Replay.Mode.GAP : Replay.Mode.IDENTITY;
    long from = mode == Replay.Mode.IDENTITY ? lastApplied : lastApplied + 1;
    replay = new Replay(this, topic, from, through, mode, lastChecksum);
    actions.replay(replay);
  }

  private void requestAll(long through) {
    replay = new Replay(this, topic, 0, through, Replay.Mode.ALL, 0);
    actions.replay(replay);
  }

  private boolean replayable() {
    return replayEndpoint != null && System.nanoTime() - noReplayBefore >= 0;
  }

  private boolean mayRecover() {
    return incomplete && replayable() && System.nanoTime() - noRecoveryBefore >= 0;
  }

  private void forget() {
    actions.invalidate(this);
    if (replayEndpoint != null) {
      incomplete = true;
      actions.watch(this);
    }
  }

  private void recovered() {
    incomplete = false;
    recoveries = 0;
  }

  private void apply(Message message, KvEventBatch batch) {
    lastApplied = message.sequence();
    joined = true;
    if (replayEndpoint != null) {
      lastChecksum = checksum(message.payload());
    }
    if (message.replay() == null) {
      connection = message.connection();
      actions.counts().increment(KvEventCount.BATCHES);
    } else {
      actions.counts().increment(KvEventCount.REPLAYED_BATCHES);
    }
    actions.apply(this, message, batch);
  }

  /** Handles a replayed batch; null if it could not be read. */
  void replayed(Message message, @Nullable KvEventBatch batch) {
    Replay answered = replay;
    if (answered == null || !answered.equals(message.replay())) {
      return;
    }
    if (incomplete && answered.mode() == Replay.Mode.ALL) {
      // The replay delivers all batches that the publisher still has.
      incomplete = false;
      actions.invalidate(this);
      lastApplied = NONE;
    }
    if (message.sequence() <= lastApplied) {
      return;
    }
    if (batch == null) {
      failed(answered);
    } else {
      apply(message, batch);
    }
  }

  /** Handles the end of a replay. */
  void ended(Message message) {
    Replay ended = replay;
    if (ended == null || !ended.equals(message.replay())) {
      return;
    }
    switch (message.kind()) {
      case REPLAY_DONE -> {
        actions.counts().increment(KvEventCount.REPLAYS);
        if (ended.mode() == Replay.Mode.ALL) {
          recovered();
        }
        resume(ended);
      }
      case PUBLISHER_RESTARTED -> {
        // The held batches are from the restarted publisher.
        publisherRestarted();
        joined = true;
        applyHeld();
      }
      default -> failed(ended);
    }
  }

  private void failed(Replay tried) {
    actions.counts().increment(KvEventCount.FAILED_REPLAYS);
    long cooldownNanos = TimeUnit.MILLISECONDS.toNanos(actions.limits().cooldownMillis());
    noReplayBefore = System.nanoTime() + cooldownNanos;
    noRecoveryBefore =
        System.nanoTime() + (cooldownNanos << Math.min(recoveries++, MOST_DOUBLINGS));
    boolean broughtNothing = incomplete && tried.mode() == Replay.Mode.ALL;
    if (joined && !broughtNothing) {
      // Without an applied batch, the pod has no blocks in the index that could be wrong.
      actions.invalidate(this);
    }
    incomplete = true;
    actions.watch(this);
    resume(tried);
  }

  /**
   * Continues with the held batches after a replay; earlier ones were delivered or count as missed.
   */
  private void resume(Replay over) {
    cancelReplay();
    countMissed(over.through() - over.accounted());
    lastApplied = Math.max(lastApplied, over.through());
    Held first = held.peekFirst();
    if (first != null) {
      connection = first.message().connection();
    }
    applyHeld();
  }

  private void applyHeld() {
    while (replay == null && !held.isEmpty()) {
      Held next = held.removeFirst();
      heldBytes -= next.message().payload().length;
      handle(next);
    }
  }

  /** Called when the queue is empty. Detects a dropped last batch, which no later batch reveals. */
  void idle() {
    if (replay != null) {
      actions.watch(this);
      return;
    }
    if (incomplete) {
      actions.watch(this);
    }
    long last = Math.max(dropped.getAndSet(NONE), lastLive);
    boolean missing = joined && last > lastApplied;
    if (missing) {
      lastLive = last;
      countMissed(last - lastApplied);
    }
    if (mayRecover()) {
      requestAll(last);
    } else if (missing && replayable()) {
      requestReplay(last, true);
    } else if (missing) {
      forget();
      lastApplied = last;
    }
  }

  /** Handles the removal of the publisher. */
  void removed() {
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
