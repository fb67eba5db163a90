package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.trace.Anatomy.Doing;
import io.inferspan.samples.desk.trace.Anatomy.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Divides a time range into parts. Each call of {@link #paint} replaces the parts that it overlaps.
 */
final class TimePaint {

  private static final Colour NONE = new Colour(Doing.OTHER, "", null);

  private final long begin;
  private final long end;
  private final TreeMap<Long, Colour> colourFrom = new TreeMap<>();

  private record Colour(Doing doing, String source, @Nullable Node node) {}

  TimePaint(long begin, long end) {
    this.begin = begin;
    this.end = end;
    colourFrom.put(begin, NONE);
  }

  void paint(Doing doing, long from, long to, String source, Node node) {
    long first = Math.max(begin, from);
    long last = Math.min(end, to);
    if (first >= last) {
      return;
    }
    Colour after = colourFrom.floorEntry(last).getValue();
    colourFrom.subMap(first, true, last, true).clear();
    colourFrom.put(first, new Colour(doing, source, node));
    if (last < end) {
      colourFrom.put(last, after);
    }
  }

  /** Returns the parts in time order; adjacent parts of the same kind are merged. */
  List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    Long from = colourFrom.firstKey();
    while (from != null) {
      Long next = colourFrom.higherKey(from);
      Colour colour = colourFrom.getOrDefault(from, NONE);
      add(
          parts,
          new Part(colour.doing, from, next == null ? end : next, colour.source, colour.node));
      from = next;
    }
    return parts;
  }

  private static void add(List<Part> parts, Part part) {
    if (part.nanos() == 0) {
      return;
    }
    Part last = parts.isEmpty() ? null : parts.getLast();
    if (last == null || last.doing() != part.doing()) {
      parts.add(part);
      return;
    }
    // The merged part has the source of the longer part.
    Part longer = part.nanos() > last.nanos() ? part : last;
    parts.set(
        parts.size() - 1,
        new Part(last.doing(), last.startNanos(), part.endNanos(), longer.source(), longer.node()));
  }
}
