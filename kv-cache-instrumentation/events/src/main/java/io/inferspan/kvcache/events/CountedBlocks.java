package io.inferspan.kvcache.events;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that a pod holds in one place, with the number of copies and the index keys of each.
 *
 * <p>A hash table of primitive numbers, because a pod has a million blocks: 20 bytes a slot and no
 * objects. Engines' hashes may have any distribution, so they are mixed to choose a slot.
 */
final class CountedBlocks {

  private static final int LEAST_SLOTS = 64;

  private long[] hashes = new long[LEAST_SLOTS];
  private long[] keys = new long[LEAST_SLOTS];
  private int[] counts = new int[LEAST_SLOTS];
  private int size;

  /** All keys of blocks that map to more than one; engines with larger blocks have them. */
  private final Map<Long, long[]> wide = new HashMap<>();

  int size() {
    return size;
  }

  int slots() {
    return counts.length;
  }

  /** Returns the slot of a block, or -1. */
  int slot(long hash) {
    int at = home(hash);
    while (counts[at] != 0) {
      if (hashes[at] == hash) {
        return at;
      }
      at = next(at);
    }
    return -1;
  }

  /** Returns whether the slot is occupied. */
  boolean taken(int slot) {
    return counts[slot] != 0;
  }

  long hash(int slot) {
    return hashes[slot];
  }

  /** Returns the last key of the block at the slot. */
  long lastKey(int slot) {
    return keys[slot];
  }

  /** Returns all keys of the block at the slot if there is more than one, else null. */
  long @Nullable [] wideKeys(int slot) {
    return wide.isEmpty() ? null : wide.get(hashes[slot]);
  }

  /** Counts a stored block whose keys are {@code from} to {@code to} of {@code all}. */
  void store(long hash, long[] all, int from, int to) {
    int slot = slot(hash);
    if (slot < 0) {
      slot = take(hash);
    }
    keys[slot] = all[to - 1];
    counts[slot] += counts[slot] == Integer.MAX_VALUE ? 0 : 1;
    if (to - from > 1) {
      wide.put(hash, Arrays.copyOfRange(all, from, to));
    } else if (!wide.isEmpty()) {
      wide.remove(hash);
    }
  }

  private int take(long hash) {
    if ((size + 1) * 4L > counts.length * 3L) {
      resize(counts.length * 2);
    }
    int at = home(hash);
    while (counts[at] != 0) {
      at = next(at);
    }
    hashes[at] = hash;
    size++;
    return at;
  }

  /** Counts a removed block; returns how many copies remain, or -1 if it is unknown. */
  int remove(long hash) {
    int slot = slot(hash);
    if (slot < 0) {
      return -1;
    }
    if (--counts[slot] == 0) {
      size--;
      if (!wide.isEmpty()) {
        wide.remove(hash);
      }
      close(slot);
      return 0;
    }
    return counts[slot];
  }

  /** Moves blocks after the gap into it, so that linear probing still finds all of them. */
  private void close(int gap) {
    int hole = gap;
    for (int at = next(gap); counts[at] != 0; at = next(at)) {
      if (distance(home(hashes[at]), at) >= distance(hole, at)) {
        hashes[hole] = hashes[at];
        keys[hole] = keys[at];
        counts[hole] = counts[at];
        counts[at] = 0;
        hole = at;
      }
    }
  }

  private void resize(int slots) {
    long[] oldHashes = hashes;
    long[] oldKeys = keys;
    int[] oldCounts = counts;
    hashes = new long[slots];
    keys = new long[slots];
    counts = new int[slots];
    for (int i = 0; i < oldCounts.length; i++) {
      if (oldCounts[i] != 0) {
        int at = home(oldHashes[i]);
        while (counts[at] != 0) {
          at = next(at);
        }
        hashes[at] = oldHashes[i];
        keys[at] = oldKeys[i];
        counts[at] = oldCounts[i];
      }
    }
  }

  private int home(long hash) {
    long mixed = (hash ^ (hash >>> 32)) * 0x9E3779B97F4A7C15L;
    return (int) (mixed ^ (mixed >>> 32)) & (counts.length - 1);
  }

  private int next(int slot) {
    return (slot + 1) & (counts.length - 1);
  }

  private int distance(int from, int to) {
    return (to - from) & (counts.length - 1);
  }
}
