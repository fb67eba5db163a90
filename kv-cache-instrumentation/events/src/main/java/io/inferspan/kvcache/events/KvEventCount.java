package io.inferspan.kvcache.events;

/** What a subscriber counts. */
public enum KvEventCount {
  /** Batches that were applied as they arrived. */
  BATCHES("batches", "how", "live", "Batches applied to the index"),
  /** Batches that were applied from a replay. */
  REPLAYED_BATCHES("batches", "how", "replayed", "Batches applied to the index"),
  /** Events that reported stored blocks. */
  STORED_EVENTS("applied", "type", "stored", "Events read"),
  /** Events that reported removed blocks. */
  REMOVED_EVENTS("applied", "type", "removed", "Events read"),
  /** Events that reported a cleared cache. */
  CLEARED_EVENTS("applied", "type", "cleared", "Events read"),
  /** Blocks added to the index, once per copy that an engine stored. */
  STORED_BLOCKS("blocks", "type", "stored", "Blocks reported by engines"),
  /** Blocks removed from the index because an engine removed them. */
  REMOVED_BLOCKS("blocks", "type", "removed", "Blocks reported by engines"),
  /** Unreadable messages: wrong frames, or a payload that is not a batch. */
  BAD_FRAMES("bad.frames", "Unreadable messages"),
  /** Gaps in publishers' sequence numbers. */
  GAPS("gaps", "Gaps in publishers' sequence numbers"),
  /** Missing batches, including those that a replay delivered. */
  MISSED_BATCHES("missed", "Missing batches"),
  /** Batches dropped for lack of space; they are later counted as missing, too. */
  DROPPED_BATCHES("dropped", "Batches dropped for lack of space"),
  /** Internal errors that cost a batch; please report them. */
  FAULTS("faults", "Internal errors that cost a batch"),
  /** Successful replays. */
  REPLAYS("replays", "result", "ok", "Replays of missing batches"),
  /** Failed replays. */
  FAILED_REPLAYS("replays", "result", "failed", "Replays of missing batches"),
  /** Publishers that restarted. */
  RESTARTS("restarts", "Restarts of publishers"),
  /** Removals of all blocks of a pod because its contents were unknown. */
  INVALIDATIONS("invalidations", "Pods removed from the index"),
  /** Writes that the index did not accept. */
  FAILED_WRITES("write.failures", "Writes that the index did not accept"),
  /** Rewrites of all blocks of a pod after the index had failed. */
  REWRITES("rewrites", "Pods rewritten after the index had failed");

  final String meter;

  @SuppressWarnings("ImmutableEnumChecker") // never changed
  final String[] tag;

  final String description;

  KvEventCount(String meter, String description) {
    this(meter, description, new String[0]);
  }

  KvEventCount(String meter, String key, String value, String description) {
    this(meter, description, new String[] {key, value});
  }

  KvEventCount(String meter, String description, String[] tag) {
    this.meter = meter;
    this.tag = tag;
    this.description = description;
  }
}
