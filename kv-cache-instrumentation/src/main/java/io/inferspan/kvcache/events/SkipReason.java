package io.inferspan.kvcache.events;

/** Why an event changed nothing. */
public enum SkipReason {
  /** Its kind is not known here. */
  UNKNOWN_TYPE,
  /** Its fields are not what they should be. */
  MALFORMED,
  /** Nobody told of the block that it continues. */
  UNKNOWN_PARENT,
  /** It moves a block that nobody told of. */
  UNKNOWN_BLOCK,
  /** It is of a cache whose blocks do not stand for a prompt's beginning. */
  CACHE_KIND,
  /** It has fewer tokens than a block of the index. */
  TOO_SHORT,
  /** What it says of images and salts does not fit the blocks of the index. */
  EXTRAS,
  /** The pod has more blocks, tiers or groups than are kept of one. */
  TOO_MANY
}
