package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

  private static final String COUNTERS = "counters";
  private static final String EVENTS = "events";
  private static final String SETTINGS = "settings";
  private static final int COUNTERS_ENTRIES = 1024;

  /** The bridges of this machine, the oldest first. */
  static List<RunningBridge> all() {
    Map<Integer, Maps> maps = new TreeMap<>();
    Map<Integer, List<LoadedProgram>> programs = new TreeMap<>();
    for (LoadedProgram program : LoadedProgram.all()) {
      Maps its = Maps.of(program);
      if (its != null) {
        maps.merge(its.counters(), its, Maps::and);
        programs.computeIfAbsent(its.counters(), number -> new ArrayList<>()).add(program);
      }
    }
    List<RunningBridge> bridges = new ArrayList<>();
    programs.forEach(
        (counters, its) -> {
          Maps known = maps.get(counters);
          RunningBridge bridge = known == null ? null : read(known, its);
          if (bridge != null) {
            bridges.add(bridge);
          }
        });
    return bridges;
  }

  /** The maps by which a bridge is told from everything else on the machine; 0 is unknown. */
  private record Maps(int counters, int events, int settings) {

    static @Nullable Maps of(LoadedProgram program) {
      int counters = 0;
      int events = 0;
      int settings = 0;
      for (int number : program.maps()) {
        try (LoadedMap map = LoadedMap.open(number)) {
          if (map != null && isCounters(map.map())) {
            counters = number;
          } else if (map != null && map.map().name().equals(EVENTS)) {
            events = number;
          } else if (map != null && map.map().name().equals(SETTINGS)) {
            settings = number;
          }
        }
      }
      return counters == 0 ? null : new Maps(counters, events, settings);
    }

    private static boolean isCounters(BpfMap map) {
      return map.name().equals(COUNTERS)
          && map.maxEntries() == COUNTERS_ENTRIES
          && map.valueSize() == Long.BYTES;
    }

    Maps and(Maps other) {
      return events == 0 || settings == 0 ? other : this;
    }
  }

  private static @Nullable RunningBridge read(Maps maps, List<LoadedProgram> programs) {
    Map<String, RunStats> runs = new LinkedHashMap<>();
    programs.forEach(program -> runs.merge(program.name(), program.runs(), RunningBridge::sum));
    long loaded = programs.stream().mapToLong(LoadedProgram::loadedNanos).min().orElse(0);
    try (LoadedMap counters = LoadedMap.open(maps.counters());
        LoadedMap events = LoadedMap.openToShare(maps.events());
        LoadedMap settings = LoadedMap.open(maps.settings())) {
      if (counters == null || events == null || settings == null) {
        return null;
      }
      RingFill ring = RingFill.of(events.map().fd(), events.map().maxEntries());
      boolean asleep = KernelSettings.isAsleep(settings.map());
      Reading reading = reading(new KernelCounters(counters.map()), ring, asleep, runs);
      return new RunningBridge(maps.counters(), loaded, reading);
    }
  }

  private static Reading reading(
      KernelCounters counters, RingFill ring, boolean asleep, Map<String, RunStats> runs) {
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
    return new Reading(System.nanoTime(), produced, lost, contexts, ring, asleep, runs);
  }

  private static RunStats sum(RunStats one, RunStats other) {
    return new RunStats(one.count() + other.count(), one.totalNanos() + other.totalNanos());
  }
}
