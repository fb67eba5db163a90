package io.inferspan.kvcache.events;

/** The reason why an event changed nothing. */
public enum SkipReason {
  /** The event type is unknown. */
  UNKNOWN_TYPE,
  /** The fields are invalid. */
  MALFORMED,
  /** The parent block is unknown. */
  UNKNOWN_PARENT,
  /** It moves an unknown block. */
  UNKNOWN_BLOCK,
  /** The blocks of its cache kind do not depend on a whole prefix of the prompt. */
  CACHE_KIND,
  /** It has fewer tokens than a block of the index. */
  TOO_SHORT,
  /** Its images and salts do not fit the blocks of the index. */
  EXTRAS,
  /** The pod has more blocks, tiers or groups than the limit. */
  TOO_MANY
}
