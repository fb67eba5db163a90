package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The programs of a running bridge in any process, and the maps that they share.
 *
 * <p>The maps are not kept open, because an open map would outlive its bridge.
 *
 * @param maps the kernel's id of each map, by its name
 */
public record BridgeMaps(List<LoadedProgram> programs, Map<String, Integer> maps) {

  private static final String A_MAP = "anon_inode:bpf-map";
  private static final String COUNTERS = "counters";
  private static final String OTEL_CONTEXTS = "otel_contexts";
  private static final int COUNTERS_ENTRIES = 1024;
  private static final String OTHER_VERSION =
      "run the command from the jar of the bridge's version";

  /** Copies the list and the map. */
  public BridgeMaps {
    programs = List.copyOf(programs);
    maps = Map.copyOf(maps);
  }

  /** Returns the bridges of this machine, the oldest first. */
  public static List<BridgeMaps> all() {
    Map<Integer, List<LoadedProgram>> programs = new TreeMap<>();
    Map<Integer, Map<String, Integer>> maps = new HashMap<>();
    for (LoadedProgram program : LoadedProgram.all()) {
      Map<String, Integer> its = mapsOf(program);
      Integer counters = its.get(COUNTERS);
      if (counters != null) {
        programs.computeIfAbsent(counters, number -> new ArrayList<>()).add(program);
        maps.computeIfAbsent(counters, number -> new HashMap<>()).putAll(its);
      }
    }
    List<BridgeMaps> bridges = new ArrayList<>();
    programs.forEach(
        (counters, its) -> bridges.add(new BridgeMaps(its, maps.getOrDefault(counters, Map.of()))));
    return bridges;
  }

  private static Map<String, Integer> mapsOf(LoadedProgram program) {
    Map<String, Integer> maps = new HashMap<>();
    for (int number : program.maps()) {
      try (LoadedMap map = LoadedMap.open(number)) {
        if (map != null && (!map.map().name().equals(COUNTERS) || isCounters(map.map()))) {
          maps.put(map.map().name(), number);
        }
      }
    }
    return maps;
  }

  private static boolean isCounters(BpfMap map) {
    return map.maxEntries() == COUNTERS_ENTRIES && map.valueSize() == Long.BYTES;
  }

  /** Returns the kernel's id of the bridge's map of counters, which identifies the bridge. */
  public int counters() {
    return number(COUNTERS);
  }

  /** Returns the kernel's id of a map; 0 if no program of the bridge uses a map of that name. */
  public int number(String map) {
    int shared = map.equals(OTEL_CONTEXTS) ? maps.getOrDefault(SharedContexts.NAME, 0) : 0;
    return maps.getOrDefault(map, shared);
  }

  /** Returns whether a process, given its directory in {@code /proc}, holds the bridge's maps. */
  public boolean isHeldBy(Path process) {
    return isHeldBy(process, counters());
  }

  /** Returns whether a process holds a map open, given its directory in {@code /proc}. */
  public static boolean isHeldBy(Path process, int map) {
    String wanted = "map_id:\t" + map;
    try (Stream<Path> files = Files.list(process.resolve("fd"))) {
      return files
          .filter(BridgeMaps::isMap)
          .map(fd -> process.resolve("fdinfo").resolve(fd.getFileName()))
          .anyMatch(info -> text(info).lines().anyMatch(wanted::equals));
    } catch (IOException | UncheckedIOException gone) {
      return false;
    }
  }

  private static boolean isMap(Path fd) {
    try {
      return Files.readSymbolicLink(fd).toString().equals(A_MAP);
    } catch (IOException gone) {
      return false;
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException gone) {
      return "";
    }
  }

  /** Returns whether the bridge's first program is still loaded. */
  public boolean isRunning() {
    return LoadedProgram.isLoaded(programs.getFirst().number());
  }

  /** Loads an object whose programs use the maps that all programs of this bridge share. */
  public void load(BpfObject object) {
    load(object, LoadedPrograms.SHARED);
  }

  /** Loads an object whose programs use the maps with these names, if the bridge has them. */
  public void load(BpfObject object, List<String> shared) {
    List<LoadedMap> open = new ArrayList<>();
    try {
      for (String name : shared) {
        LoadedMap map = object.hasMap(name) ? LoadedMap.openToShare(number(name)) : null;
        if (map != null) {
          open.add(map);
          object.share(name, map.map());
        }
      }
      object.load();
    } catch (IllegalArgumentException otherShape) {
      throw new BpfException(String.valueOf(otherShape.getMessage()), OTHER_VERSION, "");
    } finally {
      open.forEach(LoadedMap::close);
    }
  }
}
