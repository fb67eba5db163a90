package io.inferspan.kvcache.events;

/** The counters of a subscriber. */
public enum KvEventCount {
  /** Batches that were applied as they arrived. */
  BATCHES("batches", "Batches applied to the index", "how", "live"),
  /** Batches that were applied from a replay. */
  REPLAYED_BATCHES("batches", "Batches applied to the index", "how", "replayed"),
  /** Events that reported stored blocks. */
  STORED_EVENTS("applied", "Events read", "type", "stored"),
  /** Events that reported removed blocks. */
  REMOVED_EVENTS("applied", "Events read", "type", "removed"),
  /** Events that reported a cleared cache. */
  CLEARED_EVENTS("applied", "Events read", "type", "cleared"),
  /** Blocks added to the index, once per copy that an engine stored. */
  STORED_BLOCKS("blocks", "Blocks reported by engines", "type", "stored"),
  /** Blocks removed from the index because an engine removed them. */
  REMOVED_BLOCKS("blocks", "Blocks reported by engines", "type", "removed"),
  /** Unreadable messages: wrong frames, or a payload that is not a batch. */
  BAD_FRAMES("bad.frames", "Unreadable messages"),
  /** Gaps in publishers' sequence numbers. */
  GAPS("gaps", "Gaps in publishers' sequence numbers"),
  /** Missing batches, including those that a replay delivered. */
  MISSED_BATCHES("missed", "Missing batches"),
  /** Batches dropped because a queue was full; they are later counted as missing, too. */
  DROPPED_BATCHES("dropped", "Batches dropped because a queue was full"),
  /**
   * Exceptions of the observer, and internal errors, which should be reported, including failed
   * repairs of the index. A batch that was being processed is lost.
   */
  FAULTS("faults", "Internal errors, and exceptions of the observer"),
  /** Successful replays. */
  REPLAYS("replays", "Replays of missing batches", "result", "ok"),
  /** Failed replays. */
  FAILED_REPLAYS("replays", "Replays of missing batches", "result", "failed"),
  /** Publishers that restarted. */
  RESTARTS("restarts", "Restarts of publishers"),
  /** Removals of a pod whose blocks are no longer known, or that exceeds the limit of pods. */
  INVALIDATIONS("invalidations", "Pods removed from the index"),
  /** Writes that the index did not accept. */
  FAILED_WRITES("write.failures", "Writes that the index did not accept"),
  /** Rewrites of all blocks of a pod after the index had failed. */
  REWRITES("rewrites", "Pods rewritten after the index had failed");

  final String meter;
  final String description;

  @SuppressWarnings("ImmutableEnumChecker") // never changed
  final String[] tag;

  KvEventCount(String meter, String description, String... tag) {
    this.meter = meter;
    this.description = description;
    this.tag = tag;
  }
}
