package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.DetailLevels;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A snapshot of the counters of one bridge.
 *
 * @param atNanos when it was taken, on {@link System#nanoTime}'s clock
 * @param counters the counters of the programs
 * @param levels the detail level of each class of events
 * @param ring the fill level of the ring buffer
 * @param asleep whether the probes for sampled requests are detached, because none was sampled for
 *     a while
 * @param programs the run statistics of each program, by name
 */
record Reading(
    long atNanos,
    Counters counters,
    DetailLevels levels,
    RingFill ring,
    boolean asleep,
    Map<String, RunStats> programs) {

  private static final double NANOS_PER_SECOND = 1e9;

  /** Copies the map and keeps its order. */
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
