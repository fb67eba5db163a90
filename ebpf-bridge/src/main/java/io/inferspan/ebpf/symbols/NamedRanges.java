package io.inferspan.ebpf.symbols;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Named address ranges; a new range replaces those that it overlaps. */
final class NamedRanges {

  private final TreeMap<Long, Range> ranges = new TreeMap<>(Long::compareUnsigned);

  private record Range(long end, String name) {}

  void add(long start, long length, String name) {
    if (length <= 0) {
      return;
    }
    long end = start + length;
    Map.Entry<Long, Range> before = ranges.lowerEntry(start);
    if (before != null && Long.compareUnsigned(before.getValue().end(), start) > 0) {
      ranges.remove(before.getKey());
    }
    List<Long> covered = new ArrayList<>(ranges.subMap(start, true, end, false).keySet());
    covered.forEach(ranges::remove);
    ranges.put(start, new Range(end, name));
  }

  @Nullable String at(long address) {
    Map.Entry<Long, Range> entry = ranges.floorEntry(address);
    boolean inside = entry != null && Long.compareUnsigned(address, entry.getValue().end()) < 0;
    return inside ? entry.getValue().name() : null;
  }
}
