package io.inferspan.kvcache.index;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A change to the holders of several blocks. The holders of a block are an immutable array, the
 * latest one last.
 *
 * <p>Consecutive blocks with the same array also share the new array. Use an instance for one call
 * on one thread.
 */
final class HolderChange {

  private final UnaryOperator<PodEntry[]> change;
  private final int maxHolders;

  private PodEntry[] lastBefore = BlockHits.NO_PODS;
  private PodEntry @Nullable [] lastAfter;
  private int lastDisplaced;
  private boolean fresh = true;
  private long displaced;

  private HolderChange(UnaryOperator<PodEntry[]> change, int maxHolders) {
    this.change = change;
    this.maxHolders = maxHolders;
  }

  /** Adds holders, removes those in {@code retired}, and keeps only the last {@code maxHolders}. */
  static HolderChange adding(PodEntry[] more, Set<PodEntry> retired, int maxHolders) {
    return new HolderChange(before -> added(before, more, retired), maxHolders);
  }

  /** Removes the holders for which {@code some.contains} returns true. */
  static HolderChange without(Collection<PodEntry> some) {
    return new HolderChange(before -> kept(before, some, Set.of()), Integer.MAX_VALUE);
  }

  /** Returns the holders that replace {@code before}; null if none is left. */
  @SuppressWarnings(
      "ReferenceEquality") // arrays are immutable, so the same array has the same result
  PodEntry @Nullable [] after(PodEntry[] before) {
    if (fresh || before != lastBefore) {
      fresh = false;
      lastBefore = before;
      PodEntry[] all = change.apply(before);
      lastDisplaced = Math.max(0, all.length - maxHolders);
      PodEntry[] last =
          lastDisplaced > 0 ? Arrays.copyOfRange(all, lastDisplaced, all.length) : all;
      lastAfter = last.length == 0 ? null : last;
    }
    displaced += lastDisplaced;
    return lastAfter;
  }

  /** Returns how many holders were displaced by the limit. */
  long displaced() {
    return displaced;
  }

  private static PodEntry[] added(PodEntry[] before, PodEntry[] more, Set<PodEntry> retired) {
    PodEntry[] others = kept(kept(before, retired, Set.of()), List.of(more), Set.of());
    PodEntry[] all = Arrays.copyOf(others, others.length + more.length);
    System.arraycopy(more, 0, all, others.length, more.length);
    return all;
  }

  /**
   * Returns the holders that are not in {@code some}, limited to {@code pods} unless that is empty.
   * If nothing is removed, returns the same array.
   */
  static PodEntry[] kept(PodEntry[] before, Collection<PodEntry> some, Set<String> pods) {
    int size = 0;
    for (PodEntry entry : before) {
      size += keeps(entry, some, pods) ? 1 : 0;
    }
    if (size == before.length) {
      return before;
    }
    PodEntry[] kept = new PodEntry[size];
    int at = 0;
    for (int i = 0; at < size; i++) {
      if (keeps(before[i], some, pods)) {
        kept[at++] = before[i];
      }
    }
    return kept;
  }

  private static boolean keeps(PodEntry entry, Collection<PodEntry> some, Set<String> pods) {
    return !some.contains(entry) && (pods.isEmpty() || pods.contains(entry.pod()));
  }
}
