package io.inferspan.ebpf.symbols;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The executable mappings of a process, from {@code /proc/PID/maps}. */
record MemoryMap(List<Region> regions) {

  private static final Pattern EXECUTABLE =
      Pattern.compile(
          "([0-9a-f]{1,16})-([0-9a-f]{1,16}) ..x. ([0-9a-f]{1,16}) ([0-9a-f:]+) ([0-9]{1,18})"
              + " *(.*)");
  private static final int HEX = 16;

  /**
   * A mapping; addresses are compared as unsigned. The path is that of the mapped file, a name such
   * as {@code [vdso]}, or empty.
   */
  record Region(long start, long end, long offset, FileId file, String path) {

    boolean holds(long address) {
      return Long.compareUnsigned(address, start) >= 0 && Long.compareUnsigned(address, end) < 0;
    }

    /** Returns its file name in {@code /proc/PID/map_files}. */
    String range() {
      return Long.toHexString(start) + "-" + Long.toHexString(end);
    }
  }

  /** The identity of a file, independent of its path. */
  record FileId(String device, long inode) {}

  static MemoryMap of(List<String> lines) {
    List<Region> regions = new ArrayList<>();
    for (String line : lines) {
      Matcher region = EXECUTABLE.matcher(line);
      if (region.matches()) {
        regions.add(
            new Region(
                Long.parseUnsignedLong(region.group(1), HEX),
                Long.parseUnsignedLong(region.group(2), HEX),
                Long.parseUnsignedLong(region.group(3), HEX),
                new FileId(region.group(4), Long.parseLong(region.group(5))),
                region.group(6)));
      }
    }
    return new MemoryMap(regions);
  }

  @Nullable Region at(long address) {
    int low = 0;
    int high = regions.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      Region region = regions.get(middle);
      if (region.holds(address)) {
        return region;
      }
      if (Long.compareUnsigned(address, region.start()) < 0) {
        high = middle - 1;
      } else {
        low = middle + 1;
      }
    }
    return null;
  }
}
