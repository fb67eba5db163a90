package io.inferspan.kvcache.index;

import org.jspecify.annotations.Nullable;

/**
 * A key of the in-memory tables.
 *
 * <p>Unlike a {@link Long} it is mutable, so that a lookup of thousands of keys allocates no
 * objects. A key that is stored in a table is never changed.
 */
final class BlockKey implements Comparable<BlockKey> {

  private long value;

  BlockKey(long value) {
    this.value = value;
  }

  /** Sets the key to look up. */
  BlockKey to(long next) {
    value = next;
    return this;
  }

  /** Orders keys, so that a hash table stays fast if crafted prompts make keys collide. */
  @Override
  public int compareTo(BlockKey other) {
    return Long.compare(value, other.value);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BlockKey key && key.value == value;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(value);
  }
}
