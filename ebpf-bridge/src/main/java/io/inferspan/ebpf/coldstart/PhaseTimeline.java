package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.Phase.Evidence;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Divides the wall time of a start into phases and gaps.
 *
 * <p>Each call or wait that is evidence of a phase covers its own duration; where two overlap, the
 * earlier one counts. The time between two pieces of evidence belongs to the phase of the first,
 * unless it exceeds 2 % of the wall time: then it is a gap. The time before the first evidence is a
 * gap, too. So phases and gaps add up to the wall time.
 */
final class PhaseTimeline {

  private static final int PARTS_OF_WALL = 50;

  private final long startNanos;
  private final long endNanos;
  private final List<Interval> intervals = new ArrayList<>();
  private final Map<Phase, Summary> phases = new EnumMap<>(Phase.class);

  /** A part of the wall time; {@code phase} is null in a gap. */
  record Interval(@Nullable Phase phase, long startNanos, long endNanos) {
    long nanos() {
      return endNanos - startNanos;
    }
  }

  /**
   * The time from the first to the last evidence of a phase, and how much of it belongs to the
   * phase.
   */
  record Summary(long startNanos, long endNanos, long nanos, long evidence) {

    private Summary and(Summary other) {
      return new Summary(
          Math.min(startNanos, other.startNanos),
          Math.max(endNanos, other.endNanos),
          nanos + other.nanos,
          evidence + other.evidence);
    }
  }

  /** Divides the time from start to end; {@code evidence} is sorted by start. */
  PhaseTimeline(List<Evidence> evidence, long startNanos, long endNanos) {
    this.startNanos = startNanos;
    this.endNanos = endNanos;
    long cursor = startNanos;
    @Nullable Phase phase = null;
    for (Evidence each : evidence) {
      if (each.endNanos() < startNanos || each.startNanos() > endNanos) {
        continue;
      }
      long from = Math.max(cursor, each.startNanos());
      long to = Math.max(from, Math.min(each.endNanos(), endNanos));
      between(phase, cursor, from);
      count(each.phase(), new Summary(from, to, 0, 1));
      add(each.phase(), from, to);
      cursor = to;
      phase = each.phase();
    }
    between(phase, cursor, endNanos);
  }

  private void between(@Nullable Phase phase, long from, long to) {
    add(to - from > longNanos() ? null : phase, from, to);
  }

  private void add(@Nullable Phase phase, long from, long to) {
    if (from == to) {
      return;
    }
    if (phase != null) {
      count(phase, new Summary(from, to, to - from, 0));
    }
    Interval last = intervals.isEmpty() ? null : intervals.getLast();
    if (last != null && last.phase() == phase) {
      intervals.set(intervals.size() - 1, new Interval(phase, last.startNanos(), to));
    } else {
      intervals.add(new Interval(phase, from, to));
    }
  }

  private void count(Phase phase, Summary more) {
    phases.merge(phase, more, Summary::and);
  }

  long startNanos() {
    return startNanos;
  }

  long endNanos() {
    return endNanos;
  }

  long wallNanos() {
    return endNanos - startNanos;
  }

  /** Returns the minimum length of the intervals that the report explains. */
  long longNanos() {
    return wallNanos() / PARTS_OF_WALL;
  }

  Map<Phase, Summary> phases() {
    return phases;
  }

  List<Interval> gaps() {
    return intervals.stream().filter(interval -> interval.phase() == null).toList();
  }

  List<Interval> intervals() {
    return intervals;
  }
}
