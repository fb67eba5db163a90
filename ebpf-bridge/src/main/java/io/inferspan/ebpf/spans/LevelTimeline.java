package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;

/**
 * The history of each event class's detail level, so that a span can state which events were not
 * recorded. Thread-safe.
 */
public final class LevelTimeline {

  /** The number of changes kept; a request with more changes reports only the last ones. */
  private static final int HISTORY = 64;

  private final long[] sinceNanos = new long[HISTORY];
  private final DetailLevels[] levels = new DetailLevels[HISTORY];
  private long changes;

  /**
   * The data for the attributes of a request's spans. The shares exclude time in which requests
   * were not recognised.
   *
   * @param lowered the lowest level of each class that was not always in full detail
   * @param sched the share of the time during which scheduler and TCP events were recorded
   * @param syscalls the share of the time during which system calls were recorded and library
   *     probes were attached
   * @param calls the share of the time during which library probes were attached
   * @param launches the share of the time during which library probes and the probes of launches
   *     were attached
   */
  record Seen(String lowered, double sched, double syscalls, double calls, double launches) {}

  /** Creates a history that begins in full detail. */
  LevelTimeline() {}

  /** Adds a change of the levels. */
  public synchronized void note(DetailLevels now, long nowNanos) {
    int slot = (int) (changes++ % HISTORY);
    sinceNanos[slot] = nowNanos;
    levels[slot] = now;
  }

  /** Returns the data for the attributes of spans in an interval. */
  synchronized Seen during(long startNanos, long endNanos) {
    long end = Math.max(endNanos, startNanos + 1);
    double requests = attached(EventClass.REQUESTS, startNanos, end);
    double calls = Math.min(requests, attached(EventClass.CALLS, startNanos, end));
    return new Seen(
        lowest(startNanos, end).words(),
        Math.min(requests, attached(EventClass.SCHED, startNanos, end)),
        Math.min(calls, attached(EventClass.SYSCALLS, startNanos, end)),
        calls,
        Math.min(calls, attached(EventClass.LAUNCHES, startNanos, end)));
  }

  /**
   * Returns the lowest level of a class in an interval, such as {@code launches:counted}; empty if
   * it was always full.
   */
  synchronized String level(EventClass events, long startNanos, long endNanos) {
    DetailLevel lowest = lowest(startNanos, endNanos).of(events);
    return DetailLevels.FULL.with(events, lowest).words();
  }

  private DetailLevels lowest(long start, long end) {
    DetailLevels lowest = DetailLevels.FULL;
    for (long change = oldest(); change < changes; change++) {
      if (since(change) < end && until(change) > start) {
        lowest = lowest.lowest(levels[(int) (change % HISTORY)]);
      }
    }
    return lowest;
  }

  private double attached(EventClass events, long start, long end) {
    long off = 0;
    for (long change = oldest(); change < changes; change++) {
      if (levels[(int) (change % HISTORY)].of(events) == DetailLevel.DETACHED) {
        off += Math.max(0, Math.min(end, until(change)) - Math.max(start, since(change)));
      }
    }
    return 1 - off / (double) (end - start);
  }

  private long oldest() {
    return Math.max(0, changes - HISTORY);
  }

  private long since(long change) {
    return sinceNanos[(int) (change % HISTORY)];
  }

  private long until(long change) {
    return change + 1 == changes ? Long.MAX_VALUE : since(change + 1);
  }
}
