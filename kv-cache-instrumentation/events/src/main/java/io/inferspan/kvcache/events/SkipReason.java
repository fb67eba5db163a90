package io.inferspan.kvcache.events;

/** The reason why an event was not applied, or only to some of its blocks. */
public enum SkipReason {
  /** The event type is unknown. */
  UNKNOWN_TYPE,
  /** The fields are invalid. */
  MALFORMED,
  /** The parent block is unknown. */
  UNKNOWN_PARENT,
  /** It reports a further tier or cache group of an unknown block. */
  UNKNOWN_BLOCK,
  /**
   * Its cache is of a kind, such as sliding-window attention, whose blocks do not depend on the
   * whole prefix.
   */
  CACHE_KIND,
  /** It has fewer tokens than a block of the index. */
  TOO_SHORT,
  /** Its extra keys and its tokens are for different numbers of blocks. */
  EXTRAS,
  /** The pod has more blocks, tiers or groups than the limit. */
  TOO_MANY
}
