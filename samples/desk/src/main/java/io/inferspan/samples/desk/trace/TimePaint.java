package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.trace.Anatomy.Doing;
import io.inferspan.samples.desk.trace.Anatomy.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** A stretch of time that is painted piece by piece; who paints later covers what was there. */
final class TimePaint {

  private static final Colour NONE = new Colour(Doing.OTHER, "");

  private final long begin;
  private final long end;
  private final TreeMap<Long, Colour> colourFrom = new TreeMap<>();

  private record Colour(Doing doing, String source) {}

  TimePaint(long begin, long end) {
    this.begin = begin;
    this.end = end;
    colourFrom.put(begin, NONE);
  }

  void paint(Doing doing, long from, long to, String source) {
    long first = Math.max(begin, from);
    long last = Math.min(end, to);
    if (first >= last) {
      return;
    }
    Colour after = colourFrom.floorEntry(last).getValue();
    colourFrom.subMap(first, true, last, true).clear();
    colourFrom.put(first, new Colour(doing, source));
    if (last < end) {
      colourFrom.put(last, after);
    }
  }

  /** What can be seen, in the order of time; neighbours that do the same are one. */
  List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    Long from = colourFrom.firstKey();
    while (from != null) {
      Long next = colourFrom.higherKey(from);
      Colour colour = colourFrom.getOrDefault(from, NONE);
      add(parts, new Part(colour.doing, from, next == null ? end : next, colour.source));
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
    // What takes longest says where it is from.
    String source = part.nanos() > last.nanos() ? part.source() : last.source();
    parts.set(parts.size() - 1, new Part(last.doing(), last.startNanos(), part.endNanos(), source));
  }
}
