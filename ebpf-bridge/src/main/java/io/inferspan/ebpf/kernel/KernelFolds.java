package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.KernelSum;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the map {@code folds}, in which the programs sum events by owner and kind.
 *
 * <p>A program may add to an entry at any time. Therefore each read subtracts the previous value,
 * and an entry is removed only after several reads without a change.
 */
final class KernelFolds implements KernelSums {

  private static final List<Kind> KINDS =
      Arrays.stream(Kind.values()).filter(kind -> EventClass.of(kind) != null).toList();

  /** The number of reads without a change after which an entry is removed. */
  private static final int REMOVED_AFTER = 3;

  private static final int KEY_BYTES = 16;
  private static final int KIND_AT = 8;

  // Offsets in struct ispan_fold.
  private static final int COUNT_AT = 0;
  private static final int DROPPED_AT = 8;
  private static final int SUM_AT = 16;
  private static final int INVERTED_LEAST_AT = 24; // inverted: entries begin with zeros
  private static final int MOST_AT = 32;
  private static final int AMOUNT_AT = 40;
  private static final int FIRST_AT = 48;
  private static final int LAST_AT = 56;
  private static final int TGID_AT = 64;
  private static final int SOURCE_AT = 72;
  private static final int GENERATION_AT = 76;

  private final BpfMap folds;
  private final KernelSettings settings;
  private final Map<Key, Taken> taken = new HashMap<>();

  /** True while there may be entries of calls that a policy decided about. */
  private boolean judged;

  private record Key(long owner, int kind) {}

  /** The value of an entry at the last read, and the number of reads without a change since. */
  private static final class Taken {
    long count;
    long dropped;
    long sumNanos;
    long amount;
    long lastNanos;
    int unchangedReads;
  }

  KernelFolds(BpfMap folds, KernelSettings settings) {
    this.folds = folds;
    this.settings = settings;
  }

  @Override
  public List<KernelSum> take(long owner) {
    List<Kind> kinds = kinds();
    if (kinds.isEmpty()) {
      return List.of();
    }
    List<KernelSum> sums = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
      MemorySegment fold = arena.allocate(folds.valueSize(), Long.BYTES);
      key.set(JAVA_LONG, 0, owner);
      for (Kind kind : kinds) {
        key.set(JAVA_LONG, KIND_AT, kind.number());
        if (folds.get(key, fold)) {
          KernelSum sum = since(taken.computeIfAbsent(key(key), any -> new Taken()), kind, fold);
          if (sum.count() > 0 || sum.dropped() > 0) {
            sums.add(sum);
          }
        }
      }
    }
    return sums;
  }

  private static KernelSum since(Taken before, Kind kind, MemorySegment fold) {
    long count = fold.get(JAVA_LONG, COUNT_AT);
    long dropped = fold.get(JAVA_LONG, DROPPED_AT);
    long sum = fold.get(JAVA_LONG, SUM_AT);
    long amount = fold.get(JAVA_LONG, AMOUNT_AT);
    long last = fold.get(JAVA_LONG, LAST_AT);
    KernelSum since =
        new KernelSum(
            kind,
            count - before.count,
            dropped - before.dropped,
            sum - before.sumNanos,
            ~fold.get(JAVA_LONG, INVERTED_LEAST_AT),
            fold.get(JAVA_LONG, MOST_AT),
            amount - before.amount,
            before.lastNanos == 0 ? fold.get(JAVA_LONG, FIRST_AT) : before.lastNanos,
            last,
            fold.get(JAVA_INT, TGID_AT),
            fold.get(JAVA_INT, SOURCE_AT),
            fold.get(JAVA_INT, GENERATION_AT));
    before.count = count;
    before.dropped = dropped;
    before.sumNanos = sum;
    before.amount = amount;
    before.lastNanos = last;
    before.unchangedReads = 0;
    return since;
  }

  @Override
  public Set<Long> owners() {
    Set<Long> owners = new HashSet<>();
    if (!kinds().isEmpty()) {
      try (Arena arena = Arena.ofConfined()) {
        List<Key> keys = keys(arena);
        keys.forEach(key -> check(key, arena, owners));
        judged = settings.hasPolicy() || !keys.isEmpty();
      }
    }
    return owners;
  }

  private List<Key> keys(Arena arena) {
    List<Key> keys = new ArrayList<>();
    MemorySegment next = arena.allocate(KEY_BYTES, Long.BYTES);
    MemorySegment previous = MemorySegment.NULL;
    while (keys.size() < folds.maxEntries() && folds.nextKey(previous, next)) {
      keys.add(key(next));
      previous =
          previous.equals(MemorySegment.NULL) ? arena.allocate(KEY_BYTES, Long.BYTES) : previous;
      previous.copyFrom(next);
    }
    return keys;
  }

  /**
   * Adds the owner of an entry if the entry has changed; removes the entry after several reads
   * without a change.
   */
  private void check(Key entry, Arena arena, Set<Long> owners) {
    MemorySegment key = arena.allocate(KEY_BYTES, Long.BYTES);
    key.set(JAVA_LONG, 0, entry.owner());
    key.set(JAVA_LONG, KIND_AT, entry.kind());
    MemorySegment fold = arena.allocate(folds.valueSize(), Long.BYTES);
    if (!folds.get(key, fold)) {
      return;
    }
    Taken before = taken.get(entry);
    if (before == null || !isUnchanged(before, fold)) {
      owners.add(entry.owner());
    } else if (++before.unchangedReads >= REMOVED_AFTER) {
      taken.remove(entry);
      folds.delete(key);
    }
  }

  private static boolean isUnchanged(Taken before, MemorySegment fold) {
    return before.count == fold.get(JAVA_LONG, COUNT_AT)
        && before.dropped == fold.get(JAVA_LONG, DROPPED_AT);
  }

  private static Key key(MemorySegment key) {
    return new Key(key.get(JAVA_LONG, 0), (int) key.get(JAVA_LONG, KIND_AT));
  }

  /**
   * Returns the kinds that can have entries: those that a policy decides about, and those of
   * classes whose level was ever lowered.
   */
  private List<Kind> kinds() {
    judged |= settings.hasPolicy();
    DetailLevels lowered = settings.lowered();
    return lowered.equals(DetailLevels.FULL) && !judged
        ? List.of()
        : KINDS.stream().filter(kind -> isLookedFor(EventClass.of(kind), lowered)).toList();
  }

  private boolean isLookedFor(@Nullable EventClass events, DetailLevels lowered) {
    return events != null
        && (lowered.of(events) != DetailLevel.FULL
            || (judged && (events == EventClass.CALLS || events == EventClass.LAUNCHES)));
  }
}
