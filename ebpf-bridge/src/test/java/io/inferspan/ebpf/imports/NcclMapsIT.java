package io.inferspan.ebpf.imports;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.ChildProcess;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.libbpf.loaded.PinnedMap;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Maps as nccl-eBPF pins them, in a BPF filesystem. */
class NcclMapsIT {

  private static final int HASH = 1;
  private static final int ARRAY = 2;
  private static final int ALL_REDUCE = 4;
  private static final int NODES = 2;

  private static final String OPERATIONS =
      """
      {"header":{"id":"0xa","rank":0,"n_ranks":16,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":9000,"hostname":"a","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":64,"coll_exec_time_us":500}}
      {"header":{"id":"0xa","rank":0,"n_ranks":16,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":9000,"hostname":"a","pid":7},"coll_perf":{"coll":"Broadcast","coll_sn":2,"coll_msg_size_bytes":64,"coll_exec_time_us":500}}
      """;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @TempDir private Path directory;
  private Path bpf;

  @BeforeEach
  void mount() throws IOException {
    TestObjects.assumeBpf();
    bpf = Files.createDirectory(directory.resolve("bpf"));
    ChildProcess.run(List.of("mount", "-t", "bpf", "bpf", bpf.toString()));
  }

  @AfterEach
  void unmount() {
    ChildProcess.run(List.of("umount", bpf.toString()));
  }

  @Test
  void valuesOfThePolicyAndTheObserver_areAttributes() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment telemetry = arena.allocate(48, 8);
      telemetry.setAtIndex(JAVA_LONG, 0, 110);
      telemetry.setAtIndex(JAVA_LONG, 1, 120);
      telemetry.setAtIndex(JAVA_LONG, 2, 190);
      telemetry.set(JAVA_INT, 32, 77);
      telemetry.set(JAVA_INT, 36, 8);
      MemorySegment coll = arena.allocate(8, 8);
      coll.set(JAVA_INT, 0, ALL_REDUCE);
      coll.set(JAVA_INT, 4, NODES);
      pin("telemetry", new PinnedMap.Shape("telemetry_map", HASH, 8, 48, 64), coll, telemetry);
      MemorySegment config = arena.allocate(24, 8);
      config.set(JAVA_LONG, 0, 150);
      pin("config", new PinnedMap.Shape("config_map", ARRAY, 4, 24, 5), coll.asSlice(0, 4), config);
      MemorySegment state = arena.allocate(24, 8);
      state.set(JAVA_LONG, 0, 1);
      state.set(JAVA_INT, 8, 2500);
      state.set(JAVA_INT, 12, 3);
      state.set(JAVA_BYTE, 16, (byte) 2);
      pin("state", new PinnedMap.Shape("state_map", ARRAY, 4, 24, 1), arena.allocate(4, 4), state);
    }

    SpanImport spans =
        new SpanImport(
            NcclMaps.read(
                "telemetry_map:%s/telemetry,config_map:%1$s/config,state_map:%1$s/state"
                    .formatted(bpf)));
    spans.read(Files.writeString(directory.resolve("inspector.log"), OPERATIONS));
    spans.write(Telemetry.using(tracing.openTelemetry()), Context.root());

    assertThat(only("nccl.all_reduce").attributes())
        .contains(
            entry("inferspan.ebpf.nccl.policy.last_ns", 110L),
            entry("inferspan.ebpf.nccl.policy.average_ns", 120L),
            entry("inferspan.ebpf.nccl.policy.p99_ns", 190L),
            entry("inferspan.ebpf.nccl.policy.target_p99_ns", 150L),
            entry("inferspan.ebpf.nccl.policy.samples", 77L),
            entry("inferspan.ebpf.nccl.policy.channels", 8L));
    assertThat(only("nccl.broadcast").attributes().keySet())
        .noneMatch(key -> key.contains("policy"));
    assertThat(only("nccl.communicator").attributes())
        .contains(
            entry("inferspan.ebpf.nccl.cpu.contention", "cpuset_limited"),
            entry("inferspan.ebpf.nccl.cpu.switches_per_second", 2500L),
            entry("inferspan.ebpf.nccl.cpu.count", 3L));
  }

  @Test
  void mapThatIsAbsent_orOfAnotherShape_isRefused() {
    assertThatThrownBy(() -> NcclMaps.read("telemetry_map:" + bpf.resolve("none")))
        .isInstanceOf(IOException.class)
        .hasMessage(bpf.resolve("none") + ": there is no such map");
    PinnedMap.openOrMake(bpf.resolve("other"), new PinnedMap.Shape("other", ARRAY, 4, 16, 1))
        .close();
    assertThatThrownBy(() -> NcclMaps.read("config_map:" + bpf.resolve("other")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is a map of another type, key size or value size");
    assertThatThrownBy(() -> NcclMaps.read("slots:/x"))
        .hasMessage("unknown map slots: must be telemetry_map, config_map or state_map");
    assertThatThrownBy(() -> NcclMaps.read("state_map"))
        .hasMessage("'state_map' must be the name of a map, a colon and its path");
  }

  private void pin(String name, PinnedMap.Shape shape, MemorySegment key, MemorySegment value) {
    try (PinnedMap map = PinnedMap.openOrMake(bpf.resolve(name), shape)) {
      assertThat(map.map().put(key, value)).isTrue();
    }
  }

  private SpanRecord only(String name) {
    List<SpanRecord> spans =
        tracing.spans().stream().filter(span -> span.name().equals(name)).toList();
    assertThat(spans).hasSize(1);
    return spans.getFirst();
  }
}
