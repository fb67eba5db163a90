package io.inferspan.ebpf.flame;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** How much each stack counts for. Belongs to one thread. */
public final class StackCounts {

  /** The first frame of stacks of no request, where others have {@link #traceFrame}. */
  public static final String NO_TRACE = "no trace";

  private final TreeMap<String, Long> counts = new TreeMap<>();
  private final Unit unit;

  /** Without stacks yet. */
  public StackCounts(Unit unit) {
    this.unit = unit;
  }

  /** Adds to a stack of these frames, from the root on. */
  public void add(Collection<String> frames, long count) {
    StringBuilder stack = new StringBuilder();
    for (String frame : frames) {
      stack.append(stack.isEmpty() ? "" : ";").append(clean(frame));
    }
    add(stack.toString(), count);
  }

  /** Adds to a stack whose frames are separated already. */
  public void add(String stack, long count) {
    counts.merge(stack, count, Long::sum);
  }

  /** Adds all of another's. */
  public void addAll(StackCounts other) {
    other.counts.forEach(this::add);
  }

  /** The stacks, in the order of their text. */
  public SortedMap<String, Long> sorted() {
    return Collections.unmodifiableSortedMap(counts);
  }

  /** The sum of all stacks. */
  public long total() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What the numbers count. */
  public Unit unit() {
    return unit;
  }

  /** The same numbers, read as another unit. */
  public StackCounts as(Unit other) {
    StackCounts copy = new StackCounts(other);
    copy.addAll(this);
    return copy;
  }

  /** A name may hold what separates frames and lines. */
  private static String clean(String frame) {
    StringBuilder clean = null;
    for (int i = 0; i < frame.length(); i++) {
      char c = frame.charAt(i);
      if (c == ';' || c < ' ') {
        clean = clean == null ? new StringBuilder(frame) : clean;
        clean.setCharAt(i, c == ';' ? ',' : ' ');
      }
    }
    return clean == null ? frame : clean.toString();
  }

  /** The first frame of stacks of a trace's request, where stacks say that. */
  public static String traceFrame(String traceId) {
    return "trace " + traceId;
  }

  /** The stacks of each trace, by its id and without that frame; those of no trace are left out. */
  SortedMap<String, StackCounts> byTrace() {
    SortedMap<String, StackCounts> traces = new TreeMap<>();
    for (Map.Entry<String, Long> stack : counts.entrySet()) {
      String[] split = stack.getKey().split(";", 2);
      if (split.length == 2 && split[0].startsWith(traceFrame(""))) {
        traces
            .computeIfAbsent(
                split[0].substring(traceFrame("").length()), id -> new StackCounts(unit))
            .add(split[1], stack.getValue());
      }
    }
    return traces;
  }

  /** Where stacks begin with their trace, those of one, without that frame; else all stacks. */
  public StackCounts ofTrace(String traceId) {
    StackCounts found = new StackCounts(unit);
    boolean marked = false;
    for (Map.Entry<String, Long> stack : counts.entrySet()) {
      String[] split = stack.getKey().split(";", 2);
      marked |= split[0].equals(NO_TRACE) || split[0].startsWith(traceFrame(""));
      if (split.length == 2 && split[0].equals(traceFrame(traceId))) {
        found.add(split[1], stack.getValue());
      }
    }
    return marked ? found : this;
  }
}
