package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import io.inferspan.ebpf.ring.RingFill;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bridge in any process of this machine, identified by the maps that its programs share.
 *
 * <p>The maps are open only while they are read, because an open map would outlive its bridge.
 *
 * @param counters the kernel's id of its map of counters, which identifies the bridge
 * @param loadedNanos when its first program was loaded, in nanoseconds since boot
 * @param reading the snapshot of its counters
 */
record RunningBridge(int counters, long loadedNanos, Reading reading) {

  private static final String EVENTS = "events";
  private static final String SETTINGS = "settings";

  /** Returns the bridges of this machine, the oldest first. */
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
    programs.forEach(program -> runs.merge(program.name(), program.runs(), RunStats::plus));
    long loaded = programs.stream().mapToLong(LoadedProgram::loadedNanos).min().orElse(0);
    try (LoadedMap counters = LoadedMap.open(maps.counters());
        LoadedMap events = LoadedMap.openToShare(maps.number(EVENTS));
        LoadedMap settings = LoadedMap.open(maps.number(SETTINGS))) {
      if (counters == null || events == null || settings == null) {
        return null;
      }
      RingFill ring = RingFill.of(events.map().fd(), events.map().maxEntries());
      Reading reading =
          new Reading(
              System.nanoTime(),
              new KernelCounters(counters.map()).snapshot(),
              KernelSettings.levels(settings.map()),
              ring,
              KernelSettings.isAsleep(settings.map()),
              runs);
      return new RunningBridge(maps.counters(), loaded, reading);
    }
  }
}
