package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Blocks and their holders; a block without holders is not stored. */
final class BlockTable {

  private final LongAdder evictions = new LongAdder();
  private final LongAdder displaced = new LongAdder();
  private final PodEntries entries = new PodEntries();

  /**
   * A reusable key for lookups. It is not static, because a server's threads would otherwise keep
   * this class loaded after the table is collected.
   */
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<BlockKey> lookupKey = ThreadLocal.withInitial(() -> new BlockKey(0));

  private final Cache<BlockKey, PodEntry[]> holders;
  private final int maxHolders;

  BlockTable(MemoryBound bound, int maxHolders) {
    this.holders =
        bound.table(held -> MemoryBound.arrayBytes(held.length, Integer.BYTES), evictions);
    this.maxHolders = maxHolders;
  }

  /** Looks up the keys and sets their holders in {@code into}. */
  @SuppressWarnings(
      "ReferenceEquality") // arrays are immutable, so the same array has the same result
  void find(long[] keys, Set<String> pods, BlockHits into) {
    Set<PodEntry> retired = entries.retired();
    boolean unfiltered = pods.isEmpty() && retired.isEmpty();
    BlockKey key = lookupKey.get();
    PodEntry[] last = BlockHits.NO_PODS;
    PodEntry[] lastMatching = BlockHits.NO_PODS;
    int lastHeld = 0;
    int held = 0;
    for (int i = 0; i < keys.length; i++) {
      PodEntry[] found = holders.getIfPresent(key.to(keys[i]));
      if (found == null) {
        continue;
      }
      if (found != last) {
        last = found;
        lastMatching = unfiltered ? found : HolderChange.kept(found, retired, pods);
        lastHeld = lastMatching.length > 0 ? 1 : 0;
      }
      into.set(i, lastMatching);
      held += lastHeld;
    }
    into.found(held);
  }

  void add(long[] keys, List<PodEntry> more) {
    PodEntry[] interned = entries.intern(more);
    addInterned(keys, interned);
    // If a pod was cleared concurrently, blocks that the sweep has already visited may now contain
    // retired entries. Adding the current entries replaces them.
    while (!entries.areCurrent(interned)) {
      interned = entries.intern(more);
      addInterned(keys, interned);
    }
  }

  private void addInterned(long[] keys, PodEntry[] more) {
    HolderChange change = HolderChange.adding(more, entries.retired(), maxHolders);
    BlockKey reused = lookupKey.get();
    for (long key : keys) {
      if (!endsWith(holders.getIfPresent(reused.to(key)), more)) {
        holders
            .asMap()
            .compute(
                new BlockKey(key),
                (same, before) -> change.after(before == null ? BlockHits.NO_PODS : before));
      }
    }
    displaced.add(change.displaced());
  }

  @SuppressWarnings("ReferenceEquality") // entries are interned
  private static boolean endsWith(PodEntry @Nullable [] held, PodEntry[] more) {
    if (held == null || held.length < more.length) {
      return false;
    }
    for (int i = 1; i <= more.length; i++) {
      if (held[held.length - i] != more[more.length - i]) {
        return false;
      }
    }
    return true;
  }

  void remove(long[] keys, Collection<PodEntry> some) {
    HolderChange change = HolderChange.without(some);
    for (long key : keys) {
      holders.asMap().computeIfPresent(new BlockKey(key), (same, before) -> change.after(before));
    }
  }

  /** Returns whether any pod holds any of these blocks. */
  boolean holdsAny(long[] keys) {
    BlockKey key = lookupKey.get();
    Set<PodEntry> retired = entries.retired();
    for (long each : keys) {
      PodEntry[] found = holders.getIfPresent(key.to(each));
      if (found != null && HolderChange.kept(found, retired, Set.of()).length > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many pods have current entries. */
  int pods() {
    return entries.pods();
  }

  /** Hides a pod from lookups; {@link #sweep} removes it from the blocks. */
  void clear(String pod) {
    entries.retire(pod);
  }

  /** Removes cleared pods from the blocks, until {@code stopped} returns true. */
  void sweep(BooleanSupplier stopped) {
    Set<PodEntry> retired = entries.retired();
    if (retired.isEmpty()) {
      return;
    }
    HolderChange change = HolderChange.without(retired);
    for (Map.Entry<BlockKey, PodEntry[]> block : holders.asMap().entrySet()) {
      if (stopped.getAsBoolean()) {
        return;
      }
      PodEntry[] held = block.getValue();
      if (HolderChange.kept(held, retired, Set.of()).length < held.length) {
        holders.asMap().computeIfPresent(block.getKey(), (same, before) -> change.after(before));
      }
    }
    entries.forget(retired);
  }

  void drop() {
    holders.invalidateAll();
  }

  long size() {
    return holders.estimatedSize();
  }

  long evictions() {
    return evictions.sum();
  }

  long displaced() {
    return displaced.sum();
  }
}
