package io.inferspan.ebpf.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import io.inferspan.ebpf.Prerequisite.State;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.FakeSystem;
import io.inferspan.ebpf.support.MachineFacts.Library;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Simulated machines that lack one prerequisite each: the result says which, and what to do. */
class SupportCheckTest {

  private static final int EPERM = 1;
  private static final int EACCES = 13;
  private static final int EINVAL = 22;
  private static final String PLATFORM = "Linux amd64";
  private static final Library LIBBPF = Library.present("v1.1");

  @TempDir private Path root;
  private FakeSystem system;
  private final Map<KernelFeature, Integer> errors = new EnumMap<>(KernelFeature.class);

  @BeforeEach
  void makeSystem() {
    system = new FakeSystem(root);
  }

  @Test
  void machineWithAllPrerequisites_isAvailable() {
    EbpfSupport support = examine(PLATFORM, "", LIBBPF);

    assertThat(support).isInstanceOf(EbpfSupport.Available.class);
    assertThat(support.prerequisites())
        .allSatisfy(one -> assertThat(one.state()).isEqualTo(State.AVAILABLE))
        .allSatisfy(one -> assertThat(one.remedy()).isEmpty())
        .hasSize(13);
  }

  @Test
  void otherPlatform_isUnavailable() {
    assertMissing(
        examine("Mac OS X aarch64", "", LIBBPF), "platform: Mac OS X aarch64", "run on Linux");
  }

  @Test
  void deniedNativeAccess_isUnavailable() {
    assertMissing(
        examine(PLATFORM, "Illegal native access", LIBBPF),
        "native access: Illegal native access",
        "--enable-native-access");
  }

  @Test
  void missingLibbpf_isUnavailable() {
    Library absent = new Library("", "libbpf is missing", "install libbpf 1.0 or newer");

    assertMissing(
        examine(PLATFORM, "", absent), "libbpf: libbpf is missing", "install libbpf 1.0 or newer");
  }

  @Test
  void oldKernel_isUnavailable() {
    system.kernel("4.19.0-27-amd64");
    assertMissing(examine(PLATFORM, "", LIBBPF), "kernel: Linux 4.19 is too old", "newer");

    system.kernel("5.13.0");
    assertMissing(examine(PLATFORM, "", LIBBPF), "kernel: Linux 5.13 is too old", "6.1");

    system.kernel("5.14.0-427.el9");
    assertThat(examine(PLATFORM, "", LIBBPF)).isInstanceOf(EbpfSupport.Available.class);
  }

  @Test
  void kernelWithoutBtf_isUnavailable() {
    system.without("sys/kernel/btf/vmlinux");

    assertMissing(
        examine(PLATFORM, "", LIBBPF),
        "kernel types: no readable /sys/kernel/btf/vmlinux",
        "CONFIG_DEBUG_INFO_BTF");
  }

  @Test
  void missingPrivileges_areReportedBeforeTheirConsequences() {
    system.capabilities("0000000000000000");
    forbidAll(EPERM);

    assertMissing(
        examine(PLATFORM, "", LIBBPF),
        "privileges: neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN",
        "--cap-add BPF --cap-add PERFMON");
  }

  @Test
  void bpfWithoutPerfmon_isNotEnough() {
    system.capabilities("0000008000000000");

    assertMissing(examine(PLATFORM, "", LIBBPF), "privileges: ", "CAP_PERFMON");
  }

  @Test
  void bpfAndPerfmon_areEnough() {
    system.capabilities("000000c000000000");
    errors.put(KernelFeature.PERF_UPROBES, EACCES);

    assertLimited("other processes", "CAP_SYS_PTRACE");
  }

  @Test
  void seccompFilter_isNamed() {
    system.seccompFilter();
    forbidAll(EPERM);

    assertMissing(
        examine(PLATFORM, "", LIBBPF),
        "bpf(2): refused, and a seccomp filter is active",
        "seccomp profile");
  }

  @Test
  void lockdown_isQuoted() {
    system.file("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    forbidAll(EPERM);

    assertMissing(
        examine(PLATFORM, "", LIBBPF),
        "bpf(2): refused with EPERM (operation not permitted), lockdown is confidentiality",
        "boot with lockdown off");
  }

  @Test
  void kernelWithoutMaps_isTooOld() {
    forbidAll(EINVAL);

    assertMissing(examine(PLATFORM, "", LIBBPF), "bpf(2): refused with EINVAL", "Linux 6.1");
  }

  @Test
  void missingBpfFilesystem_isALimitation() {
    system.file("proc/self/mounts", "");

    assertLimited("bpf filesystem", "mount -t bpf");
  }

  @Test
  void functionProbes_areOfTheBestKindThatWorks() {
    errors.put(KernelFeature.UPROBE_SESSION, EINVAL);
    assertLimited("function probes", "6.13");

    errors.put(KernelFeature.UPROBE_MULTI, EINVAL);
    assertLimited("function probes", "6.6");
    assertLimited("sleep", "6.6");

    errors.put(KernelFeature.PERF_UPROBES, EACCES);
    assertLimited("function probes", "CAP_SYS_ADMIN");
  }

  @Test
  void runTimeOfPrograms_needsCapSysAdmin() {
    system.capabilities("000000c000000000");

    assertLimited("program run time", "CAP_SYS_ADMIN");
  }

  @Test
  void kernelWithoutTracingPrograms_isUnavailable() {
    errors.put(KernelFeature.PROGRAMS, EINVAL);

    assertMissing(
        examine(PLATFORM, "", LIBBPF), "tracing programs: refused with EINVAL", "Linux 6.1");
  }

  private void forbidAll(int error) {
    for (KernelFeature feature : KernelFeature.values()) {
      errors.put(feature, error);
    }
  }

  private EbpfSupport examine(String platform, String nativeAccess, Library libbpf) {
    KernelFeatures features = new KernelFeatures(errors);
    return SupportCheck.of(
        new MachineFacts(platform, nativeAccess, libbpf, features, system.view()));
  }

  private void assertLimited(String name, String remedy) {
    EbpfSupport support = examine(PLATFORM, "", LIBBPF);

    assertThat(support).isInstanceOf(EbpfSupport.Available.class);
    assertThat(find(support, name).state()).isEqualTo(State.LIMITED);
    assertThat(find(support, name).remedy()).contains(remedy);
  }

  private static Prerequisite find(EbpfSupport support, String name) {
    return support.prerequisites().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void assertMissing(EbpfSupport support, String reason, String remedy) {
    assertThat(support).isInstanceOf(EbpfSupport.Unavailable.class);
    EbpfSupport.Unavailable unavailable = (EbpfSupport.Unavailable) support;
    assertThat(unavailable.reason()).startsWith(reason);
    assertThat(unavailable.remedy()).contains(remedy);
  }
}
