package io.inferspan.ebpf.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.TestObjects;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The BPF objects of both architectures; those of the other one are only parsed. */
class ArchitecturesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "context",
        "process",
        "sched",
        "tcp",
        "calls",
        "ckp",
        "identity",
        "adopt",
        "stacks",
        "request_stacks",
        "starts",
        "trap"
      })
  void objectsOfBothArchitectures_haveTheSamePrograms(String name) {
    TestObjects.assumeBpf();
    byte[] x86 = Resources.object(name, "amd64");
    byte[] arm = Resources.object(name, "aarch64");

    assertThat(programs(name, arm)).isEqualTo(programs(name, x86)).isNotEmpty();
    if (List.of("context", "calls", "ckp").contains(name)) {
      assertThat(arm).as("code that reads other registers").isNotEqualTo(x86);
    }
  }

  /** A structure is passed by value on the stack on x86-64, and by a pointer on AArch64. */
  @Test
  void callTables_differOnlyInTheFunctionsThatCreateACommunicator() {
    List<String> x86 = Resources.callTable("amd64").lines().toList();
    List<String> arm = Resources.callTable("aarch64").lines().toList();

    assertThat(arm).hasSameSizeAs(x86);
    assertThat(arm.stream().filter(line -> !x86.contains(line)))
        .extracting(line -> line.split("\t", 3)[1])
        .containsExactly("ncclCommInitRank", "ncclCommInitRankConfig");
  }

  private static List<String> programs(String name, byte[] elf) {
    try (BpfObject object = BpfObject.open(name, elf)) {
      return object.programs().stream().map(BpfProgram::name).toList();
    }
  }
}
