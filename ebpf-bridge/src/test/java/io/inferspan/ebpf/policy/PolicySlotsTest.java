package io.inferspan.ebpf.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PolicySlotsTest {

  @Test
  void bridgeWithoutSettings_isRefused_andNoMapStaysOpen() throws IOException {
    TestObjects.assumeBpf();
    try (BpfObject object = TestObjects.open("good").load()) {
      int map = KernelObjects.of(ProcessHandle.current().pid()).maps().iterator().next();
      BridgeMaps bridge = new BridgeMaps(List.of(), Map.of("policies", map, "counters", map));
      long before = openMaps();

      assertThatThrownBy(() -> PolicySlots.of(bridge)).isInstanceOf(BpfException.class);

      assertThat(openMaps()).isEqualTo(before);
      assertThat(object.hasMap("table")).isTrue();
    }
  }

  private static long openMaps() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.filter(file -> target(file).equals("anon_inode:bpf-map")).count();
    }
  }

  private static String target(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException closed) {
      return "";
    }
  }
}
