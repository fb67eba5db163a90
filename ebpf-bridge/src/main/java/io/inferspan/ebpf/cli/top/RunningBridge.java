package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bridge of whatever process, recognised by the maps that its programs share.
 *
 * <p>Only looked at, never held: a map held open would outlive its bridge.
 *
 * @param counters the kernel's number of its counters, by which it is known
 * @param loadedNanos when its first program was loaded, since the machine started
 * @param reading its counters now
 */
record RunningBridge(int counters, long loadedNanos, Reading reading) {

  private static final String EVENTS = "events";
  private static final String SETTINGS = "settings";

  /** The bridges of this machine, the oldest first. */
  static List<RunningBridge> all() {
    List<RunningBridge> bridges = new ArrayList<>();
    for (BridgeMaps maps : BridgeMaps.all()) {
      RunningBridge bridge = read(maps);
      if (bridge != null) {
        bridges.add(bridge);
      }
    }
    return bridges;
  }

  private static @Nullable RunningBridge read(BridgeMaps maps) {
    List<LoadedProgram> programs = maps.programs();
    Map<String, RunStats> runs = new LinkedHashMap<>();
    programs.forEach(program -> runs.merge(program.name(), program.runs(), RunningBridge::sum));
    long loaded = programs.stream().mapToLong(LoadedProgram::loadedNanos).min().orElse(0);
    try (LoadedMap counters = LoadedMap.open(maps.counters());
        LoadedMap events = LoadedMap.openToShare(maps.number(EVENTS));
        LoadedMap settings = LoadedMap.open(maps.number(SETTINGS))) {
      if (counters == null || events == null || settings == null) {
        return null;
      }
      RingFill ring = RingFill.of(events.map().fd(), events.map().maxEntries());
      Reading reading = reading(new KernelCounters(counters.map()), ring, settings.map(), runs);
      return new RunningBridge(maps.counters(), loaded, reading);
    }
  }

  private static Reading reading(
      KernelCounters counters, RingFill ring, BpfMap settings, Map<String, RunStats> runs) {
    Map<Kind, Long> produced = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      produced.put(kind, counters.produced(kind));
    }
    Map<KernelLoss, Long> lost = new EnumMap<>(KernelLoss.class);
    for (KernelLoss reason : KernelLoss.values()) {
      lost.put(reason, counters.lost(reason));
    }
    Map<ContextCount, Long> contexts = new EnumMap<>(ContextCount.class);
    for (ContextCount what : ContextCount.values()) {
      contexts.put(what, counters.count(what));
    }
    Map<PolicyCount, Long> policy = new EnumMap<>(PolicyCount.class);
    for (PolicyCount what : PolicyCount.values()) {
      policy.put(what, counters.count(what));
    }
    Map<EventClass, Long> shed = new EnumMap<>(EventClass.class);
    for (EventClass events : EventClass.values()) {
      shed.put(events, counters.shed(events));
    }
    return new Reading(
        System.nanoTime(),
        produced,
        lost,
        contexts,
        policy,
        KernelSettings.levels(settings),
        shed,
        ring,
        KernelSettings.isAsleep(settings),
        runs);
  }

  private static RunStats sum(RunStats one, RunStats other) {
    return new RunStats(one.count() + other.count(), one.totalNanos() + other.totalNanos());
  }
}
