package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.linux.FakeSystem;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Errors for which the kernel gives no reason: the message has the likely one, derived from the
 * state of this process.
 */
class RefusalTest {

  private static final int EPERM = 1;
  private static final int EACCES = 13;
  private static final String PROGRAM_FAILED =
      """
      libbpf: prog 'probe': BPF program load failed: Operation not permitted
      libbpf: failed to load object 'x'
      """;

  @TempDir private Path root;
  private FakeSystem system;

  @BeforeEach
  void makeSystem() {
    system = new FakeSystem(root);
  }

  @Test
  void missingCapabilities_areNamed() {
    system.capabilities("0000000000000000");

    assertThat(load("tp_btf/sys_exit"))
        .hasMessage(
            "the kernel refused program probe of object x without a message, EPERM (operation not"
                + " permitted): run as root, or with CAP_BPF and CAP_PERFMON");
  }

  @Test
  void trampoline_isNamedAsForbidden() {
    assertThat(load("fexit/vfs_read").remedy()).contains("forbids programs of section fexit");
    assertThat(load("tp_btf/sys_exit").remedy()).doesNotContain("forbids programs");
  }

  @Test
  void seccomp_isNamed() {
    system.seccompFilter();

    assertThat(load("tp_btf/sys_exit").remedy()).contains("seccomp").contains("bpf(2)");
  }

  @Test
  void lockdown_isQuoted() {
    system.file("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");

    assertThat(load("tp_btf/sys_exit").remedy()).contains("lockdown says confidentiality");
  }

  @Test
  void libbpfsGuessAtLimits_isNotRepeated() {
    String guess =
        "libbpf: Error in bpf_object__probe_loading():Operation not permitted(1). Couldn't load"
            + " trivial BPF program. Make sure your kernel supports BPF (CONFIG_BPF_SYSCALL=y)"
            + " and/or that RLIMIT_MEMLOCK is set to big enough value.\n";
    system.seccompFilter();

    BpfException refused = new Refusal("x", EPERM, guess, "", Map.of(), system.view()).ofLoading();

    assertThat(refused.getMessage())
        .isEqualTo(
            "object x was not loaded, EPERM (operation not permitted): a seccomp filter is"
                + " active, allow bpf(2) and perf_event_open(2) in the container's profile");
    assertThat(refused.log()).isEqualTo(guess);
  }

  @Test
  void libbpfsReason_isQuoted() {
    String messages =
        """
        libbpf: map 'events': failed to create: Invalid argument(-22)
        libbpf: failed to load object 'x'
        """;

    assertThat(new Refusal("x", 22, messages, "", Map.of(), system.view()).ofLoading())
        .hasMessage(
            "object x was not loaded, EINVAL (invalid argument), libbpf says \"map 'events': failed"
                + " to create: Invalid argument(-22)\"");
  }

  @Test
  void perfUprobeWithoutCapSysAdmin_isExplained() {
    system.capabilities("000000c000000000");

    assertThat(attach("uprobe", EACCES).remedy()).contains("CAP_SYS_ADMIN");
  }

  @Test
  void refusedTimer_isReportedWithARemedy() {
    system.capabilities("0000000000000000");
    int badFrequency = -1;

    assertThatThrownBy(
            () -> CpuTimer.attach(-1, badFrequency, 1, errno -> attach("perf_event", EPERM)))
        .isInstanceOf(BpfException.class)
        .hasMessageContaining("run as root, or with CAP_BPF and CAP_PERFMON");
  }

  private BpfException load(String section) {
    Map<String, String> sections = Map.of("probe", section);
    return new Refusal("x", EPERM, PROGRAM_FAILED, "", sections, system.view()).ofLoading();
  }

  private BpfException attach(String section, int errno) {
    return Refusal.of("probe", section, errno, "", system.view()).ofAttaching("probe");
  }
}
