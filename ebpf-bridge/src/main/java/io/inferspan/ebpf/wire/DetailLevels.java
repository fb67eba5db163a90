package io.inferspan.ebpf.wire;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The detail level of each event class.
 *
 * @param word the levels, one byte per class, in the format that the programs read
 */
public record DetailLevels(long word) {

  /** Full detail for every class. */
  public static final DetailLevels FULL = new DetailLevels(0);

  private static final long BYTE = 0xff;

  /** Returns the level of a class. */
  public DetailLevel of(EventClass events) {
    return DetailLevel.of((int) (word >>> at(events) & BYTE));
  }

  /** Returns a copy with another level for one class. */
  public DetailLevels with(EventClass events, DetailLevel level) {
    return new DetailLevels((word & ~(BYTE << at(events))) | ((long) level.number() << at(events)));
  }

  /** Returns, for each class, the lower of the two levels. */
  public DetailLevels lowest(DetailLevels other) {
    DetailLevels lowest = this;
    for (EventClass events : EventClass.values()) {
      if (other.of(events).compareTo(of(events)) > 0) {
        lowest = lowest.with(events, other.of(events));
      }
    }
    return lowest;
  }

  /**
   * Returns the classes below full detail with their levels, such as {@code
   * sched:folded,syscalls:sampled}.
   */
  public String words() {
    return Arrays.stream(EventClass.values())
        .filter(events -> of(events) != DetailLevel.FULL)
        .map(events -> events.word() + ":" + of(events).word())
        .collect(Collectors.joining(","));
  }

  private static int at(EventClass events) {
    return events.number() * Byte.SIZE;
  }
}
