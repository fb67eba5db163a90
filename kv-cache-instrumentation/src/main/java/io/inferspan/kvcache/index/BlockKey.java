package io.inferspan.kvcache.index;

import org.jspecify.annotations.Nullable;

/**
 * A key of the tables in memory.
 *
 * <p>Unlike a {@link Long} it can be set anew, so that a lookup of thousands of keys makes no
 * object. One that has gone into a table is never set again.
 */
final class BlockKey implements Comparable<BlockKey> {

  private long value;

  BlockKey(long value) {
    this.value = value;
  }

  /** Makes it the key to ask for. */
  BlockKey to(long next) {
    value = next;
    return this;
  }

  /** Lets a table stay fast where someone makes prompts whose keys fall into one bin. */
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
