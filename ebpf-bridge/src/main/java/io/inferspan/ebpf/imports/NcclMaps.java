package io.inferspan.ebpf.imports;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.PendingSpan;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.loaded.PinnedMap;
import io.inferspan.ebpf.libbpf.loaded.PinnedMap.Shape;
import io.inferspan.semconv.KernelAttributes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of nccl-eBPF's pinned maps: the durations of collectives that its policy uses, and the
 * CPU contention that its observer found.
 */
public final class NcclMaps {

  /** The collectives, in the order of the policy's numbers for them. */
  private static final List<String> COLLECTIVES =
      List.of("broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce");

  private static final List<String> CONTENTIONS = List.of("none", "saturation", "cpuset_limited");
  private static final int HASH = 1;
  private static final int ARRAY = 2;
  private static final Shape TELEMETRY = new Shape("telemetry_map", HASH, 8, 48, 64);
  private static final Shape CONFIG = new Shape("config_map", ARRAY, 4, 24, COLLECTIVES.size());
  private static final Shape STATE = new Shape("state_map", ARRAY, 4, 24, 1);

  private final Map<String, Latency> latencies = new HashMap<>();
  private final Map<String, Long> targets = new HashMap<>();
  private @Nullable Contention contention;

  private record Latency(
      long lastNanos, long averageNanos, long p99Nanos, long samples, long channels) {}

  private record Contention(String kind, long switches, long cpus) {}

  private NcclMaps() {}

  /** Returns an empty snapshot. */
  public static NcclMaps none() {
    return new NcclMaps();
  }

  /** Reads maps from a list such as {@code name:path,name:path}. */
  public static NcclMaps read(String list) throws IOException {
    NcclMaps maps = new NcclMaps();
    for (String entry : list.split(",", -1)) {
      String[] named = entry.split(":", 2);
      if (named.length < 2) {
        throw new IOException("'" + entry + "' must be the name of a map, a colon and its path");
      }
      maps.read(named[0], Path.of(named[1]));
    }
    return maps;
  }

  private void read(String name, Path path) throws IOException {
    Shape shape =
        switch (name) {
          case "telemetry_map" -> TELEMETRY;
          case "config_map" -> CONFIG;
          case "state_map" -> STATE;
          default ->
              throw new IOException(
                  "unknown map %s: must be telemetry_map, config_map or state_map".formatted(name));
        };
    try (PinnedMap map = PinnedMap.open(path, shape);
        Arena arena = Arena.ofConfined()) {
      if (map == null) {
        throw new IOException(path + ": there is no such map");
      }
      MemorySegment key = arena.allocate(shape.keyBytes(), Long.BYTES);
      MemorySegment value = arena.allocate(shape.valueBytes(), Long.BYTES);
      boolean more = map.map().nextKey(MemorySegment.NULL, key);
      for (int i = 0; more && i < map.map().maxEntries(); i++) {
        if (map.map().get(key, value)) {
          take(shape, key, value);
        }
        more = map.map().nextKey(key, key);
      }
    } catch (BpfException refused) {
      throw new IOException(path + ": " + refused.getMessage(), refused);
    }
  }

  private void take(Shape shape, MemorySegment key, MemorySegment value) {
    int number = key.get(JAVA_INT, 0);
    if (shape.equals(STATE)) {
      int kind = value.get(JAVA_BYTE, 16);
      if (kind >= 0 && kind < CONTENTIONS.size() && value.get(JAVA_LONG, 0) != 0) {
        contention =
            new Contention(CONTENTIONS.get(kind), value.get(JAVA_INT, 8), value.get(JAVA_INT, 12));
      }
    } else if (number >= 0 && number < COLLECTIVES.size()) {
      String collective = COLLECTIVES.get(number);
      if (shape.equals(CONFIG)) {
        targets.put(collective, value.get(JAVA_LONG, 0));
      } else {
        latencies.put(
            key(collective, key.get(JAVA_INT, 4)),
            new Latency(
                value.get(JAVA_LONG, 0),
                value.get(JAVA_LONG, 8),
                value.get(JAVA_LONG, 16),
                value.get(JAVA_INT, 32),
                value.get(JAVA_INT, 36)));
      }
    }
  }

  private static String key(String collective, long nodes) {
    return collective + " " + nodes;
  }

  /**
   * Adds the target for this collective, and the durations that the policy recorded for it on the
   * same number of nodes.
   */
  PendingSpan describe(NcclOperation operation, PendingSpan span) {
    Latency latency = latencies.get(key(operation.call(), operation.rank().nodes()));
    if (latency != null) {
      span.set(KernelAttributes.POLICY_LAST_NS, latency.lastNanos())
          .set(KernelAttributes.POLICY_AVERAGE_NS, latency.averageNanos())
          .set(KernelAttributes.POLICY_P99_NS, latency.p99Nanos())
          .set(KernelAttributes.POLICY_SAMPLES, latency.samples())
          .set(KernelAttributes.POLICY_CHANNELS, latency.channels());
    }
    Long target = targets.get(operation.call());
    return span.set(
        KernelAttributes.POLICY_TARGET_NS, target == null || target == 0 ? null : target);
  }

  /** Adds the observer's findings about the process of a communicator. */
  PendingSpan describe(PendingSpan communicator) {
    Contention found = contention;
    if (found == null) {
      return communicator;
    }
    return communicator
        .set(KernelAttributes.CPU_CONTENTION, found.kind())
        .set(KernelAttributes.CPU_SWITCHES, found.switches())
        .set(KernelAttributes.CPU_COUNT, found.cpus());
  }
}
