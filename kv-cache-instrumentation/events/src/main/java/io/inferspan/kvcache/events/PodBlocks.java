package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.PodEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that a pod reported, and the state of the pod in the index.
 *
 * <p>If the index loses blocks, {@link IndexWriter} rewrites them from this record.
 */
final class PodBlocks {

  /** The limit of tiers and cache groups in a pod; known engines have fewer. */
  private static final int MOST_PLACES = 32;

  private static final int NEWEST = 8;

  final String pod;

  /** True if the index contains no blocks of the pod that are missing here. */
  boolean whole;

  /** True if the index lacks some blocks; writes pause until it has been cleared and rewritten. */
  boolean behind;

  /** True if the index may have lost blocks. */
  boolean suspect;

  /** True if the pod was removed; its record is dropped when the index has been cleared of it. */
  boolean leaving;

  /** The pending clearing, if any. */
  @Nullable CompletableFuture<?> clearing;

  /** The number of failed repairs and writes since the last successful repair. */
  int failures;

  /** The time of the next repair, if {@link #failures} is not zero. */
  long retryNanos;

  final List<Tier> tiers = new ArrayList<>(2);
  private final int mostBlocks;
  private final long[] newest = new long[NEWEST];
  private int stored;

  PodBlocks(String pod, int mostBlocks) {
    this.pod = pod;
    this.mostBlocks = mostBlocks;
  }

  boolean needsRepair() {
    return behind || suspect;
  }

  boolean isDue(long nowNanos) {
    return failures == 0 || nowNanos - retryNanos >= 0;
  }

  /** Returns the blocks in a tier and cache group; null if the pod has too many of them. */
  @Nullable Tier tier(KvEvent.Place place) {
    for (Tier tier : tiers) {
      if (tier.place.equals(place)) {
        return tier;
      }
    }
    if (tiers.size() == MOST_PLACES) {
      return null;
    }
    Tier tier = new Tier(pod, place);
    tiers.add(tier);
    return tier;
  }

  /** Returns whether the limit allows this many more blocks. */
  boolean hasRoom(int blocks) {
    long all = blocks;
    for (Tier tier : tiers) {
      all += tier.size;
    }
    return all <= mostBlocks;
  }

  /** Records stored blocks, and the keys that each hash maps to. */
  void store(Tier tier, long[] hashes, long[] keys) {
    int e = hashes.length;
    int r = keys.length;
    for (int i = 0; i < e; i++) {
      // As in the index: with n = max(e, r), hash i*e/n maps to key i*r/n for all i below n.
      int from = e >= r ? (int) ((long) i * r / e) : (int) (((long) i * r + e - 1) / e);
      int to = e >= r ? from + 1 : (int) (((i + 1L) * r + e - 1) / e);
      tier.store(hashes[i], keys, from, to);
      newest[stored++ & (NEWEST - 1)] = hashes[i];
    }
  }

  /** Returns the keys of a block, or null. */
  long @Nullable [] keys(long hash) {
    for (Tier tier : tiers) {
      int slot = tier.slot(hash);
      if (slot >= 0) {
        return tier.keys(slot);
      }
    }
    return null;
  }

  /** Forgets all blocks. */
  void clear() {
    tiers.clear();
    stored = 0;
  }

  /**
   * Adds the last key of each block of a sample to {@code keys}, and returns the tiers of these
   * blocks.
   */
  List<Tier> sample(List<Long> keys) {
    List<Tier> from = new ArrayList<>();
    for (Tier tier : tiers) {
      for (int i = 0; i < Math.min(stored, NEWEST); i++) {
        int slot = tier.slot(newest[i]);
        if (slot >= 0) {
          keys.add(tier.keys[slot]);
          from.add(tier);
        }
      }
      for (int slot = 0, found = 0; slot < tier.slots() && found < NEWEST; slot++) {
        if (tier.taken(slot)) {
          keys.add(tier.keys[slot]);
          from.add(tier);
          found++;
        }
      }
    }
    return from;
  }

  /**
   * The blocks in one tier and cache group, each with its number of copies and its keys in the
   * index. Engines report a block once per copy.
   *
   * <p>It is a hash table of primitive numbers with 20 bytes per slot, because a pod may have a
   * million blocks. Engines' hashes may be unevenly distributed, so they are mixed to choose a
   * slot.
   */
  static final class Tier {

    private static final int LEAST_SLOTS = 64;

    /** The holder of these blocks in the index, as a list of one. */
    final List<PodEntry> holders;

    private final KvEvent.Place place;
    private long[] hashes = new long[LEAST_SLOTS];
    private long[] keys = new long[LEAST_SLOTS];
    private int[] counts = new int[LEAST_SLOTS];
    private int size;

    /** The keys of blocks that are larger than a block of the index, and so have several keys. */
    private final Map<Long, long[]> wide = new HashMap<>();

    Tier(String pod, KvEvent.Place place) {
      this.place = place;
      this.holders =
          List.of(new PodEntry(pod, place.tier(), false, place.grouped(), place.group()));
    }

    int size() {
      return size;
    }

    int slots() {
      return counts.length;
    }

    /** Returns the slot of a block, or -1. */
    int slot(long hash) {
      int slot = find(hash);
      return counts[slot] == 0 ? -1 : slot;
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

    /** Returns whether the block at the slot has more than one key. */
    boolean isWide(int slot) {
      return !wide.isEmpty() && wide.containsKey(hashes[slot]);
    }

    /** Returns all keys of the block at the slot. */
    long[] keys(int slot) {
      long[] several = wide.isEmpty() ? null : wide.get(hashes[slot]);
      return several != null ? several : new long[] {keys[slot]};
    }

    /** Counts a stored block whose keys are {@code all[from]} to {@code all[to - 1]}. */
    void store(long hash, long[] all, int from, int to) {
      int slot = find(hash);
      if (counts[slot] == 0) {
        slot = take(hash, slot);
      }
      keys[slot] = all[to - 1];
      counts[slot] += counts[slot] == Integer.MAX_VALUE ? 0 : 1;
      if (to - from > 1) {
        wide.put(hash, Arrays.copyOfRange(all, from, to));
      } else if (!wide.isEmpty()) {
        wide.remove(hash);
      }
    }

    private int take(long hash, int free) {
      int slot = free;
      if ((size + 1) * 4L > counts.length * 3L) {
        grow();
        slot = find(hash);
      }
      hashes[slot] = hash;
      size++;
      return slot;
    }

    /** Counts a removed block; returns how many copies remain, or -1 if it is unknown. */
    int remove(long hash) {
      int slot = slot(hash);
      if (slot < 0) {
        return -1;
      }
      if (--counts[slot] > 0) {
        return counts[slot];
      }
      size--;
      if (!wide.isEmpty()) {
        wide.remove(hash);
      }
      close(slot);
      return 0;
    }

    /** Fills a freed slot with a later block, so that linear probing still finds all blocks. */
    private void close(int gap) {
      int hole = gap;
      for (int at = next(gap); counts[at] != 0; at = next(at)) {
        if (distance(home(hashes[at]), at) >= distance(hole, at)) {
          put(hole, hashes[at], keys[at], counts[at]);
          counts[at] = 0;
          hole = at;
        }
      }
    }

    private void grow() {
      long[] oldHashes = hashes;
      long[] oldKeys = keys;
      int[] oldCounts = counts;
      hashes = new long[oldHashes.length * 2];
      keys = new long[hashes.length];
      counts = new int[hashes.length];
      for (int i = 0; i < oldCounts.length; i++) {
        if (oldCounts[i] != 0) {
          put(find(oldHashes[i]), oldHashes[i], oldKeys[i], oldCounts[i]);
        }
      }
    }

    private void put(int slot, long hash, long key, int count) {
      hashes[slot] = hash;
      keys[slot] = key;
      counts[slot] = count;
    }

    /** Returns the slot of a block, or the free one that it would take. */
    private int find(long hash) {
      int at = home(hash);
      while (counts[at] != 0 && hashes[at] != hash) {
        at = next(at);
      }
      return at;
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
}
