package io.inferspan.kvcache.events;

/** The reason why an event changed nothing. */
public enum SkipReason {
  /** The event type is unknown. */
  UNKNOWN_TYPE,
  /** The fields are invalid. */
  MALFORMED,
  /** The parent block is unknown. */
  UNKNOWN_PARENT,
  /** It reports another place of an unknown block. */
  UNKNOWN_BLOCK,
  /** The blocks of its attention kind do not depend on the whole prompt before them. */
  CACHE_KIND,
  /** It has fewer tokens than a block of the index. */
  TOO_SHORT,
  /** Its extra keys are for another number of blocks than its tokens fill. */
  EXTRAS,
  /** The pod has more blocks, tiers or groups than the limit. */
  TOO_MANY
}
