package io.inferspan.ebpf.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SystemViewTest {

  @TempDir private Path root;
  private FakeSystem system;

  @BeforeEach
  void makeFiles() {
    system = new FakeSystem(root);
  }

  @ParameterizedTest
  @CsvSource({
    "6.18.44-cloud, 6, 18",
    "5.10.0-28-amd64, 5, 10",
    "4.19, 4, 19",
    "garbage, 0, 0",
    "99999999999.1, 0, 0"
  })
  void release_isParsed(String release, int major, int minor) {
    assertThat(KernelVersion.of(release)).isEqualTo(new KernelVersion(major, minor));
  }

  @Test
  void versions_compareByMajorThenMinor() {
    assertThat(new KernelVersion(6, 1).atLeast(5, 11)).isTrue();
    assertThat(new KernelVersion(5, 11).atLeast(5, 11)).isTrue();
    assertThat(new KernelVersion(5, 8).atLeast(5, 11)).isFalse();
    assertThat(new KernelVersion(4, 19).atLeast(5, 11)).isFalse();
  }

  @Test
  void capabilities_areTheEffectiveOnes() {
    system.capabilities("000000c000000000");

    assertThat(system.view().has(Capability.BPF)).isTrue();
    assertThat(system.view().has(Capability.PERFMON)).isTrue();
    assertThat(system.view().has(Capability.SYS_ADMIN)).isFalse();
  }

  @Test
  void unreadableStatus_hasNoCapabilities() {
    system.without("proc/self/status");

    assertThat(system.view().has(Capability.BPF)).isFalse();
    assertThat(system.view().filtersSystemCalls()).isFalse();
  }

  @Test
  void seccompFilter_isDetected() {
    assertThat(system.view().filtersSystemCalls()).isFalse();
    assertThat(system.seccompFilter().view().filtersSystemCalls()).isTrue();
  }

  @Test
  void lockdown_isTheSelectedMode() {
    assertThat(system.view().lockdown()).isEmpty();

    system.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");

    assertThat(system.view().lockdown()).isEqualTo("integrity");
  }

  @Test
  void bpfFilesystem_isFoundIfItIsMounted() {
    assertThat(system.view().hasBpfFilesystem()).isTrue();

    system.file("proc/self/mounts", "proc /proc proc rw 0 0\n");

    assertThat(system.view().hasBpfFilesystem()).isFalse();
  }

  @Test
  void kernelOfThisMachine_hasAVersion() {
    assertThat(SystemView.live().kernel()).isNotEqualTo(KernelVersion.UNKNOWN);
  }
}
