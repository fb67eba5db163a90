package io.inferspan.kvcache.events;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of processed events, for meters.
 *
 * <p>Every batch that a publisher numbered since the subscriber joined is counted either in {@link
 * #batches()} or in {@link #missedBatches()}; missed batches that a replay delivered are also
 * counted in {@link #replayedBatches()}. Replayed batches from before the join, and repeated ones,
 * are counted only there.
 */
public final class KvEventCounts {

  final LongAdder batches = new LongAdder();
  final LongAdder storedEvents = new LongAdder();
  final LongAdder removedEvents = new LongAdder();
  final LongAdder clearedEvents = new LongAdder();
  final LongAdder storedBlocks = new LongAdder();
  final LongAdder removedBlocks = new LongAdder();
  final LongAdder badFrames = new LongAdder();
  final LongAdder gaps = new LongAdder();
  final LongAdder missedBatches = new LongAdder();
  final LongAdder replays = new LongAdder();
  final LongAdder failedReplays = new LongAdder();
  final LongAdder replayedBatches = new LongAdder();
  final LongAdder restarts = new LongAdder();
  final LongAdder droppedBatches = new LongAdder();
  final LongAdder invalidations = new LongAdder();
  final LongAdder failedWrites = new LongAdder();
  final LongAdder rewrites = new LongAdder();
  final LongAdder faults = new LongAdder();

  private final Map<SkipReason, LongAdder> skipped = new EnumMap<>(SkipReason.class);
  private volatile double lagSeconds = Double.NaN;

  KvEventCounts() {
    for (SkipReason reason : SkipReason.values()) {
      skipped.put(reason, new LongAdder());
    }
  }

  void skip(SkipReason reason) {
    adder(reason).increment();
  }

  void received(double epochSeconds, long nowMillis) {
    double lag = nowMillis / 1e3 - epochSeconds;
    lagSeconds = lag > 0 ? lag : 0;
  }

  private LongAdder adder(SkipReason reason) {
    LongAdder adder = skipped.get(reason);
    if (adder == null) {
      throw new IllegalStateException(reason + " is not counted");
    }
    return adder;
  }

  /** Returns the number of batches that were applied as they arrived. */
  public long batches() {
    return batches.sum();
  }

  /** Returns the number of events that reported stored blocks. */
  public long storedEvents() {
    return storedEvents.sum();
  }

  /** Returns the number of events that reported removed blocks. */
  public long removedEvents() {
    return removedEvents.sum();
  }

  /** Returns the number of events that reported a cleared cache. */
  public long clearedEvents() {
    return clearedEvents.sum();
  }

  /** Returns the number of blocks added to the index, once per copy that an engine stored. */
  public long storedBlocks() {
    return storedBlocks.sum();
  }

  /** Returns the number of blocks removed from the index because an engine removed them. */
  public long removedBlocks() {
    return removedBlocks.sum();
  }

  /** Returns the number of unreadable messages: wrong frames, or a payload that is not a batch. */
  public long badFrames() {
    return badFrames.sum();
  }

  /** Returns the number of gaps in publishers' sequence numbers. */
  public long gaps() {
    return gaps.sum();
  }

  /** Returns the number of missing batches, including those that a replay delivered. */
  public long missedBatches() {
    return missedBatches.sum();
  }

  /** Returns the number of successful replays. */
  public long replays() {
    return replays.sum();
  }

  /** Returns the number of failed replays. */
  public long failedReplays() {
    return failedReplays.sum();
  }

  /** Returns the number of batches that were applied from a replay. */
  public long replayedBatches() {
    return replayedBatches.sum();
  }

  /** Returns the number of publishers that restarted. */
  public long restarts() {
    return restarts.sum();
  }

  /**
   * Returns the number of batches dropped for lack of space; they are later counted as missing,
   * too.
   */
  public long droppedBatches() {
    return droppedBatches.sum();
  }

  /** Returns how often all blocks of a pod were removed because its contents were unknown. */
  public long invalidations() {
    return invalidations.sum();
  }

  /** Returns the number of writes that the index did not accept. */
  public long failedWrites() {
    return failedWrites.sum();
  }

  /** Returns how often all blocks of a pod were rewritten after the index had failed. */
  public long rewrites() {
    return rewrites.sum();
  }

  /** Returns the number of internal errors that cost a batch; please report them. */
  public long faults() {
    return faults.sum();
  }

  /** Returns the number of events that changed nothing for this reason. */
  public long skipped(SkipReason reason) {
    return adder(reason).sum();
  }

  /** Returns the age of the newest batch when it entered the index; NaN before the first batch. */
  public double lagSeconds() {
    return lagSeconds;
  }
}
