package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The counters of one bridge at one moment.
 *
 * @param atNanos when, on {@link System#nanoTime}'s clock
 * @param produced events that the kernel side saw, by kind
 * @param lost events that did not reach the ring, by reason
 * @param contexts how contexts came to be known
 * @param policy what capture policies did with calls
 * @param levels how much is reported of each class of events
 * @param shed events of each class that a lower level folded or counted
 * @param ring the room that events have
 * @param asleep whether its probes that only serve requests are off
 * @param programs by name, what each has cost
 */
record Reading(
    long atNanos,
    Map<Kind, Long> produced,
    Map<KernelLoss, Long> lost,
    Map<ContextCount, Long> contexts,
    Map<PolicyCount, Long> policy,
    DetailLevels levels,
    Map<EventClass, Long> shed,
    RingFill ring,
    boolean asleep,
    Map<String, RunStats> programs) {

  private static final double NANOS_PER_SECOND = 1e9;

  /** Copies the maps, in their order. */
  Reading {
    produced = Collections.unmodifiableMap(new EnumMap<>(produced));
    lost = Collections.unmodifiableMap(new EnumMap<>(lost));
    contexts = Collections.unmodifiableMap(new EnumMap<>(contexts));
    policy = Map.copyOf(policy);
    shed = Map.copyOf(shed);
    programs = Collections.unmodifiableMap(new LinkedHashMap<>(programs));
  }

  long produced(Kind kind) {
    return produced.getOrDefault(kind, 0L);
  }

  long lost(KernelLoss reason) {
    return lost.getOrDefault(reason, 0L);
  }

  long count(ContextCount what) {
    return contexts.getOrDefault(what, 0L);
  }

  long count(PolicyCount what) {
    return policy.getOrDefault(what, 0L);
  }

  long shed(EventClass events) {
    return shed.getOrDefault(events, 0L);
  }

  RunStats runs(String program) {
    return programs.getOrDefault(program, new RunStats(0, 0));
  }

  double secondsSince(Reading earlier) {
    return Math.max(atNanos - earlier.atNanos, 1) / NANOS_PER_SECOND;
  }
}
