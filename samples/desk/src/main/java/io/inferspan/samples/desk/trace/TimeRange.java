package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.trace.Anatomy.Activity;
import io.inferspan.samples.desk.trace.Anatomy.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A time range that is divided into parts. Each call of {@link #assign} replaces the parts that it
 * overlaps.
 */
final class TimeRange {

  private static final Label NONE = new Label(Activity.OTHER, "", null);

  private final long begin;
  private final long end;
  private final TreeMap<Long, Label> labelFrom = new TreeMap<>();

  private record Label(Activity activity, String source, @Nullable Node node) {}

  TimeRange(long begin, long end) {
    this.begin = begin;
    this.end = end;
    labelFrom.put(begin, NONE);
  }

  void assign(Activity activity, long from, long to, String source, Node node) {
    long first = Math.max(begin, from);
    long last = Math.min(end, to);
    if (first >= last) {
      return;
    }
    Label after = labelFrom.floorEntry(last).getValue();
    labelFrom.subMap(first, true, last, true).clear();
    labelFrom.put(first, new Label(activity, source, node));
    if (last < end) {
      labelFrom.put(last, after);
    }
  }

  /** Returns the parts in time order; adjacent parts of the same activity are merged. */
  List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    Long from = labelFrom.firstKey();
    while (from != null) {
      Long next = labelFrom.higherKey(from);
      Label label = labelFrom.getOrDefault(from, NONE);
      add(
          parts,
          new Part(label.activity, from, next == null ? end : next, label.source, label.node));
      from = next;
    }
    return parts;
  }

  private static void add(List<Part> parts, Part part) {
    if (part.nanos() == 0) {
      return;
    }
    Part last = parts.isEmpty() ? null : parts.getLast();
    if (last == null || last.activity() != part.activity()) {
      parts.add(part);
      return;
    }
    // The merged part has the source of the longer part.
    Part longer = part.nanos() > last.nanos() ? part : last;
    parts.set(
        parts.size() - 1,
        new Part(
            last.activity(), last.startNanos(), part.endNanos(), longer.source(), longer.node()));
  }
}
