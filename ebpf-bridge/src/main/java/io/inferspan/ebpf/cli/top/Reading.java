package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.DetailLevels;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The counters of one bridge at one moment.
 *
 * @param atNanos when, on {@link System#nanoTime}'s clock
 * @param counters what the programs counted
 * @param levels how much is reported of each class of events
 * @param ring the room that events have
 * @param asleep whether its probes that only serve requests are off
 * @param programs by name, what each has cost
 */
record Reading(
    long atNanos,
    Counters counters,
    DetailLevels levels,
    RingFill ring,
    boolean asleep,
    Map<String, RunStats> programs) {

  private static final double NANOS_PER_SECOND = 1e9;

  /** Copies the map, in its order. */
  Reading {
    programs = Collections.unmodifiableMap(new LinkedHashMap<>(programs));
  }

  RunStats runs(String program) {
    return programs.getOrDefault(program, new RunStats(0, 0));
  }

  double secondsSince(Reading earlier) {
    return Math.max(atNanos - earlier.atNanos, 1) / NANOS_PER_SECOND;
  }
}
