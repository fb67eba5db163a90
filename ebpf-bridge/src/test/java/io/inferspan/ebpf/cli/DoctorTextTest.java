package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.support.SimulatedMachine;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of {@code doctor} for machines that lack a prerequisite. */
class DoctorTextTest {

  @TempDir private Path root;

  @Test
  void completeMachine_hasNoRemedies() {
    assertThat(plain(SimulatedMachine.whole(root)))
        .contains("  platform          yes       Linux amd64\n")
        .doesNotContain("->", "limited", "NO ")
        .endsWith("\n\nThe bridge can observe kernel events on this machine.\n");
  }

  @Test
  void ordinaryUser_seesTheRemedyOnce() {
    String text = plain(SimulatedMachine.ordinaryUser(root));

    assertThat(text)
        .contains(
            "  privileges        NO        neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN\n")
        .contains("                              -> run as root, or with CAP_BPF and CAP_PERFMON")
        .contains("                              -> as for privileges\n")
        .contains("The bridge cannot observe kernel events on this machine. First: run as root");
    assertThat(text.split("setpriv --ambient-caps", -1)).as("and in the verdict").hasSize(3);
  }

  @Test
  void missingLibbpf_isReportedWithItsPackage() {
    assertThat(plain(SimulatedMachine.withoutLibbpf(root)))
        .contains("  libbpf            NO        libbpf is missing\n")
        .contains("-> install libbpf 1.0 or newer\n")
        .endsWith("First: install libbpf 1.0 or newer.\n");
  }

  @Test
  void kernelWithoutTypes_isReported() {
    assertThat(plain(SimulatedMachine.withoutTypes(root)))
        .contains("  kernel types      NO        no readable /sys/kernel/btf/vmlinux")
        .contains("CONFIG_DEBUG_INFO_BTF");
  }

  @Test
  void olderKernel_isLimitedOnly() {
    assertThat(plain(SimulatedMachine.olderKernel(root)))
        .contains("  function probes   limited   uprobe_multi, two programs per call\n")
        .endsWith(
            "The bridge can observe kernel events on this machine, with the limitations above.\n");
  }

  @Test
  void lines_fitIntoAHundredColumns() {
    for (EbpfSupport support :
        new EbpfSupport[] {
          SimulatedMachine.ordinaryUser(root), SimulatedMachine.withoutTypes(root),
        }) {
      assertThat(plain(support).lines())
          .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }
  }

  @Test
  void terminal_seesWhatIsMissingInRed() {
    assertThat(DoctorText.of(SimulatedMachine.ordinaryUser(root), Style.TERMINAL))
        .contains("\u001b[1;31mNO        \u001b[0m");
  }

  private static String plain(EbpfSupport support) {
    return DoctorText.of(support, Style.PLAIN);
  }
}
