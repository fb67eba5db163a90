package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.PodEntry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that a pod told of its blocks, by place: what the index should say of it.
 *
 * <p>Engines tell of a block once per copy, so copies are counted. The ledger also outlives an
 * index that forgets: what was lost is written again from here.
 */
final class PodLedger {

  /** A block belongs to a place; more of those than this nobody has. */
  private static final int MOST_PLACES = 32;

  private static final int NEWEST = 8;

  /**
   * The blocks in one place.
   *
   * @param holders what the index is told of each of them, always one entry
   */
  record Shelf(KvEvent.Place place, List<PodEntry> holders, CountedBlocks blocks) {}

  private final String pod;
  private final int mostBlocks;
  private final List<Shelf> shelves = new ArrayList<>(2);
  private final long[] newest = new long[NEWEST];
  private int stored;

  PodLedger(String pod, int mostBlocks) {
    this.pod = pod;
    this.mostBlocks = mostBlocks;
  }

  List<Shelf> shelves() {
    return shelves;
  }

  /** The blocks in a place; null where the pod has too many places. */
  @Nullable Shelf shelf(KvEvent.Place place) {
    for (Shelf shelf : shelves) {
      if (shelf.place().equals(place)) {
        return shelf;
      }
    }
    if (shelves.size() == MOST_PLACES) {
      return null;
    }
    PodEntry entry = new PodEntry(pod, place.tier(), false, place.grouped(), place.group());
    Shelf shelf = new Shelf(place, List.of(entry), new CountedBlocks());
    shelves.add(shelf);
    return shelf;
  }

  /** Whether so many more blocks may be kept. */
  boolean hasRoom(int blocks) {
    long all = blocks;
    for (Shelf shelf : shelves) {
      all += shelf.blocks().size();
    }
    return all <= mostBlocks;
  }

  /** Remembers blocks that were stored, hash by hash with its share of the keys. */
  void store(Shelf shelf, long[] hashes, long[] keys) {
    int e = hashes.length;
    int r = keys.length;
    for (int i = 0; i < e; i++) {
      // As the index maps them: hash i*e/n to key i*r/n, for all i below n, the larger of both.
      int from = e >= r ? (int) ((long) i * r / e) : (int) (((long) i * r + e - 1) / e);
      int to = e >= r ? from + 1 : (int) (((i + 1L) * r + e - 1) / e);
      shelf.blocks().store(hashes[i], keys, from, to);
      newest[stored++ & (NEWEST - 1)] = hashes[i];
    }
  }

  /** The shelf on which a block lies, or null. */
  @Nullable Shelf holding(long hash) {
    for (Shelf shelf : shelves) {
      if (shelf.blocks().slot(hash) >= 0) {
        return shelf;
      }
    }
    return null;
  }

  /** Forgets everything. */
  void clear() {
    shelves.clear();
    stored = 0;
  }

  /** A few blocks by which to see whether the index still has what it was told. */
  List<Shelf> sample(List<Long> keys) {
    List<Shelf> from = new ArrayList<>();
    for (int i = 0; i < Math.min(stored, NEWEST); i++) {
      Shelf shelf = holding(newest[i]);
      if (shelf != null) {
        keys.add(shelf.blocks().lastKey(shelf.blocks().slot(newest[i])));
        from.add(shelf);
      }
    }
    for (Shelf shelf : shelves) {
      CountedBlocks blocks = shelf.blocks();
      for (int slot = 0, found = 0; slot < blocks.slots() && found < NEWEST; slot++) {
        if (blocks.taken(slot)) {
          keys.add(blocks.lastKey(slot));
          from.add(shelf);
          found++;
        }
      }
    }
    return from;
  }
}
