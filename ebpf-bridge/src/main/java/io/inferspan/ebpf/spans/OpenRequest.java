package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.batch.Step;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What was seen of one owner and is not written yet; used again and again. */
final class OpenRequest {

  /** The owner's number. */
  long number;

  /** Whether it was looked up who the owner is, which costs where its begin was lost. */
  boolean sought;

  /** The time of the begin, or of the first event where no begin was announced. */
  long beganNanos;

  /** Since when what is not written yet has been gathered. */
  long gatheredSinceNanos;

  long touchedNanos;

  /** The engine's step that it is; null of requests, processes and spans. */
  @Nullable Step step;

  /** Whether its begin was announced, and so will its end be. */
  boolean told;

  /**
   * Why not all of its work could be attributed, as bits of {@code ispan_shared}; known at its end.
   */
  int shared;

  /** Operations that may have been its own. */
  long unattributed;

  /** When it is to be written, once its end is known; zero before. */
  long dueNanos;

  // Places in the table and in the list that it is in.
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
    gatheredSinceNanos = nowNanos;
    touchedNanos = nowNanos;
    told = false;
    step = null;
    sought = false;
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

  /** Whether the next event of this kind is among the first few; counts it as seen. */
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

  @Nullable Fold foldOfAny(Kind kind) {
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      if (fold != null && fold.takesAny(kind)) {
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

  /** How many events are gathered. */
  long events() {
    long events = singleCount;
    for (int i = 0; i < foldCount; i++) {
      Fold fold = folds[i];
      events += fold == null ? 0 : fold.durations().count();
    }
    return events;
  }

  /** When the last of what is gathered ended. */
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

  /** Forgets what has been written; the folds have gone back to where they came from. */
  void clear() {
    singleCount = 0;
    Arrays.fill(folds, 0, foldCount, null);
    foldCount = 0;
  }
}
