package io.inferspan.kvcache.events;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What came of the events so far; for meters.
 *
 * <p>Every batch that a publisher numbered since it was joined is either in {@link #batches()} or
 * in {@link #missedBatches()}; those of the latter that a replay brought are in {@link
 * #replayedBatches()} too. What a replay brings of the time before, or once more, is only there.
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

  void told(double epochSeconds, long nowMillis) {
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

  /** Batches that entered the index as they came. */
  public long batches() {
    return batches.sum();
  }

  /** Events that said that blocks were stored. */
  public long storedEvents() {
    return storedEvents.sum();
  }

  /** Events that said that blocks were removed. */
  public long removedEvents() {
    return removedEvents.sum();
  }

  /** Events that said that a whole cache was dropped. */
  public long clearedEvents() {
    return clearedEvents.sum();
  }

  /** Blocks that entered the index, each as often as an engine stored it. */
  public long storedBlocks() {
    return storedBlocks.sum();
  }

  /** Blocks that left the index because an engine removed them. */
  public long removedBlocks() {
    return removedBlocks.sum();
  }

  /** Messages that were not read: wrong frames, or a batch that is none. */
  public long badFrames() {
    return badFrames.sum();
  }

  /** How often batches were missing between two others. */
  public long gaps() {
    return gaps.sum();
  }

  /** Batches that were missing, whether a replay brought them or not. */
  public long missedBatches() {
    return missedBatches.sum();
  }

  /** Replays that brought what was missing. */
  public long replays() {
    return replays.sum();
  }

  /** Replays that did not. */
  public long failedReplays() {
    return failedReplays.sum();
  }

  /** Batches that entered the index by a replay. */
  public long replayedBatches() {
    return replayedBatches.sum();
  }

  /** Publishers that began anew. */
  public long restarts() {
    return restarts.sum();
  }

  /** Batches that arrived and found no room; they are missing later, and count there too. */
  public long droppedBatches() {
    return droppedBatches.sum();
  }

  /** How often all blocks of a pod left the index because what it holds was no longer known. */
  public long invalidations() {
    return invalidations.sum();
  }

  /** Writes that the index did not take. */
  public long failedWrites() {
    return failedWrites.sum();
  }

  /** How often all blocks of a pod were written again, after the index had failed. */
  public long rewrites() {
    return rewrites.sum();
  }

  /** Faults of our own that cost a batch; they are to be reported. */
  public long faults() {
    return faults.sum();
  }

  /** Events that changed nothing for this reason. */
  public long skipped(SkipReason reason) {
    return adder(reason).sum();
  }

  /** How long ago the newest batch was made, when it entered the index; NaN before the first. */
  public double lagSeconds() {
    return lagSeconds;
  }
}
