package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.batch.Step;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The unwritten events of one owner: a request, an engine step, an adopted process or a span. The
 * object is reused for another owner.
 */
final class OpenRequest {

  /** The owner's number. */
  long number;

  /** Whether the owner was looked up, which is expensive if its start was lost. */
  boolean lookedUp;

  /** When it began; the time of its first event if its start was not reported. */
  long beganNanos;

  /** When it ended; zero while it runs. */
  long endedNanos;

  /** When its events were last written, or when it began. */
  long gatheredSinceNanos;

  long touchedNanos;

  /** The engine step, if the owner is one; otherwise null. */
  @Nullable Step step;

  /** Whether its start was reported, so that its end will be, too. */
  boolean startReported;

  /**
   * The reasons why some work was not attributed to it, as bits {@code ISPAN_SHARED_*}; set at its
   * end.
   */
  int shared;

  /** The number of operations that may belong to it or to another request; set at its end. */
  long unattributed;

  /** When it is due to be written after its end; zero while it runs. */
  long dueNanos;

  // Links in a hash chain and in a list.
  @Nullable RequestList list;
  @Nullable OpenRequest sameBucket;
  @Nullable OpenRequest earlier;
  @Nullable OpenRequest later;

  private final byte[] seen = new byte[Kind.NUMBERS];
  private @Nullable HeldEvent[] singles = new @Nullable HeldEvent[4];
  private int singleCount;
  private @Nullable Fold[] folds = new @Nullable Fold[4];
  private int foldCount;

  void begin(long owner, long nowNanos) {
    number = owner;
    beganNanos = Long.MAX_VALUE;
    endedNanos = 0;
    gatheredSinceNanos = nowNanos;
    touchedNanos = nowNanos;
    startReported = false;
    step = null;
    lookedUp = false;
    shared = 0;
    unattributed = 0;
    dueNanos = 0;
    Arrays.fill(seen, (byte) 0);
  }

  boolean isEnding() {
    return dueNanos != 0;
  }

  boolean isEmpty() {
    return singleCount == 0 && foldCount == 0;
  }

  /** Counts an event of this kind; returns whether it is among the first few. */
  boolean isAmongTheFirst(Kind kind, int few) {
    if (seen[kind.number()] >= few) {
      return false;
    }
    seen[kind.number()]++;
    return true;
  }

  void hold(EventView view, Kind kind, @Nullable String label) {
    if (singleCount == singles.length) {
      singles = Arrays.copyOf(singles, 2 * singleCount);
    }
    HeldEvent held = singles[singleCount];
    if (held == null) {
      held = new HeldEvent();
      singles[singleCount] = held;
    }
    held.take(view, kind, label);
    singleCount++;
  }

  int singleCount() {
    return singleCount;
  }

  @Nullable HeldEvent single(int index) {
    return singles[index];
  }

  @Nullable Fold foldOf(EventView view, Kind kind, long detailKey) {
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      if (fold != null && fold.takes(view, kind, detailKey)) {
        return fold;
      }
    }
    return null;
  }

  @Nullable Fold mixedFoldOf(Kind kind) {
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      if (fold != null && fold.takesMixed(kind)) {
        return fold;
      }
    }
    return null;
  }

  void add(Fold fold) {
    if (foldCount == folds.length) {
      folds = Arrays.copyOf(folds, 2 * foldCount);
    }
    folds[foldCount++] = fold;
  }

  int foldCount() {
    return foldCount;
  }

  @Nullable Fold fold(int index) {
    return folds[index];
  }

  /** Returns the number of unwritten events. */
  long events() {
    long events = singleCount;
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      events += fold == null ? 0 : fold.durations().count();
    }
    return events;
  }

  /** Returns when the last unwritten event ended. */
  long lastEndNanos() {
    long last = Long.MIN_VALUE;
    for (int i = 0; i < singleCount; i++) {
      HeldEvent event = singles[i];
      last = event == null ? last : Math.max(last, event.endNanos);
    }
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      last = fold == null ? last : Math.max(last, fold.lastEndNanos());
    }
    return last;
  }

  /** Removes the written events. The folds were already returned to their pool. */
  void clear() {
    singleCount = 0;
    Arrays.fill(folds, 0, foldCount, null);
    foldCount = 0;
  }
}
