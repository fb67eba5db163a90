package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.PodEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that a pod reported, by place: the intended contents of the index, and how far the
 * index is known to agree.
 *
 * <p>Engines report a block once per copy, so copies are counted. This ledger survives a loss of
 * data in the index: lost blocks are rewritten from here.
 */
final class PodBlocks {

  /** A block belongs to a place; no known engine has more places. */
  private static final int MOST_PLACES = 32;

  private static final int NEWEST = 8;

  /**
   * The blocks in one place.
   *
   * @param holders the index entry of each of them, always a single one
   */
  record Tier(KvEvent.Place place, List<PodEntry> holders, CountedBlocks blocks) {}

  final String pod;

  /** True if everything that the index contains for the pod is recorded here. */
  boolean whole;

  /** True if the index lacks some blocks; writes pause until it has been rewritten. */
  boolean behind;

  /** True if the index may contain outdated blocks of the pod. */
  boolean toBeCleared;

  /** True if the index may have lost blocks. */
  boolean suspect;

  /** True if the pod was removed; this is dropped once the index is updated. */
  boolean leaving;

  /** The pending clearing, if any. */
  @Nullable CompletableFuture<?> clearing;

  /** The number of failed repairs and writes since the last successful repair. */
  int failures;

  /** The time of the next repair, if {@link #failures} is not zero. */
  long retryNanos;

  private final int mostBlocks;
  private final List<Tier> tiers = new ArrayList<>(2);
  private final long[] newest = new long[NEWEST];
  private int stored;

  PodBlocks(String pod, int mostBlocks) {
    this.pod = pod;
    this.mostBlocks = mostBlocks;
  }

  boolean needy() {
    return behind || suspect;
  }

  boolean isDue(long nowNanos) {
    return failures == 0 || nowNanos - retryNanos >= 0;
  }

  List<Tier> tiers() {
    return tiers;
  }

  /** Returns the blocks in a place; null if the pod has too many places. */
  @Nullable Tier tier(KvEvent.Place place) {
    for (Tier tier : tiers) {
      if (tier.place().equals(place)) {
        return tier;
      }
    }
    if (tiers.size() == MOST_PLACES) {
      return null;
    }
    PodEntry entry = new PodEntry(pod, place.tier(), false, place.grouped(), place.group());
    Tier tier = new Tier(place, List.of(entry), new CountedBlocks());
    tiers.add(tier);
    return tier;
  }

  /** Returns whether that many more blocks may be kept. */
  boolean hasRoom(int blocks) {
    long all = blocks;
    for (Tier tier : tiers) {
      all += tier.blocks().size();
    }
    return all <= mostBlocks;
  }

  /** Records stored blocks, each hash with its share of the keys. */
  void store(Tier tier, long[] hashes, long[] keys) {
    int e = hashes.length;
    int r = keys.length;
    for (int i = 0; i < e; i++) {
      // The index's mapping: hash i*e/n to key i*r/n, for all i below n, the larger of the two
      // counts.
      int from = e >= r ? (int) ((long) i * r / e) : (int) (((long) i * r + e - 1) / e);
      int to = e >= r ? from + 1 : (int) (((i + 1L) * r + e - 1) / e);
      tier.blocks().store(hashes[i], keys, from, to);
      newest[stored++ & (NEWEST - 1)] = hashes[i];
    }
  }

  /** Returns the tier that contains a block, or null. */
  @Nullable Tier holding(long hash) {
    for (Tier tier : tiers) {
      if (tier.blocks().slot(hash) >= 0) {
        return tier;
      }
    }
    return null;
  }

  /** Forgets everything. */
  void clear() {
    tiers.clear();
    stored = 0;
  }

  /** Returns a sample of blocks to check whether the index still contains the pod. */
  List<Tier> sample(List<Long> keys) {
    List<Tier> from = new ArrayList<>();
    for (int i = 0; i < Math.min(stored, NEWEST); i++) {
      Tier tier = holding(newest[i]);
      if (tier != null) {
        keys.add(tier.blocks().lastKey(tier.blocks().slot(newest[i])));
        from.add(tier);
      }
    }
    for (Tier tier : tiers) {
      CountedBlocks blocks = tier.blocks();
      for (int slot = 0, found = 0; slot < blocks.slots() && found < NEWEST; slot++) {
        if (blocks.taken(slot)) {
          keys.add(blocks.lastKey(slot));
          from.add(tier);
          found++;
        }
      }
    }
    return from;
  }
}
