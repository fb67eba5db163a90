package io.inferspan.ebpf.flame;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** A count for each stack. Not thread-safe. */
public final class StackCounts {

  /**
   * In stacks that are grouped by trace, the first frame of a stack without a trace; the other
   * stacks begin with {@link #traceFrame}.
   */
  public static final String NO_TRACE = "no trace";

  private final TreeMap<String, Long> counts = new TreeMap<>();
  private final Unit unit;

  /** Creates an instance without stacks. */
  public StackCounts(Unit unit) {
    this.unit = unit;
  }

  /** Adds to the count of the stack with these frames, which are ordered from the root on. */
  public void add(Collection<String> frames, long count) {
    StringBuilder stack = new StringBuilder();
    for (String frame : frames) {
      stack.append(stack.isEmpty() ? "" : ";").append(clean(frame));
    }
    add(stack.toString(), count);
  }

  /** Adds to the count of a stack in folded form. */
  public void add(String stack, long count) {
    counts.merge(stack, count, Long::sum);
  }

  /** Adds all stacks of another instance. */
  public void addAll(StackCounts other) {
    other.counts.forEach(this::add);
  }

  /** Returns the stacks, ordered by their text. */
  public SortedMap<String, Long> sorted() {
    return Collections.unmodifiableSortedMap(counts);
  }

  /** Returns the sum of all counts. */
  public long total() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the unit of the counts. */
  public Unit unit() {
    return unit;
  }

  /** Returns the same numbers with another unit. */
  public StackCounts as(Unit other) {
    StackCounts copy = new StackCounts(other);
    copy.addAll(this);
    return copy;
  }

  /** Replaces the separators of frames and lines, which a name may contain. */
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

  /** Returns the first frame of the stacks of a trace. */
  public static String traceFrame(String traceId) {
    return "trace " + traceId;
  }

  /**
   * Returns stacks by trace id, without the first frame, which names the trace; stacks of no trace
   * are omitted.
   */
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

  /** Returns the stacks of one trace, without its frame; all stacks if none begins with a trace. */
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
