package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.SystemView;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks in real processes that lack a prerequisite. */
class EbpfSupportTest {

  private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";
  private static final List<String> CHILD = ChildProcess.java(SupportProcess.class, ALLOWED);

  @Test
  void root_isSupportedHere() {
    TestObjects.assumeBpf();

    assertThat(EbpfSupport.check()).isInstanceOf(EbpfSupport.Available.class);
  }

  @Test
  void noPrivileges_missingOnesAreReported() {
    assumeTool("setpriv");

    assertThat(unprivileged(CHILD, "--inh-caps=-all"))
        .contains("support=privileges: neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN | run as")
        .contains("the application continues")
        .doesNotContain("Exception", "WARNING");
  }

  @Test
  void bpfAndPerfmon_areEnoughForAnyUser() {
    assumeTool("setpriv");
    assumeTrue(
        SystemView.live().kernel().atLeast(6, 6), "needs a kernel with uprobe_multi (Linux 6.6)");

    assertThat(unprivileged(CHILD, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"))
        .contains("support=available")
        .contains("found=CAP_BPF and CAP_PERFMON");
  }

  @Test
  void hiddenLibbpf_isReportedWithItsPackage() {
    String script =
        "for library in $(ldconfig -p | sed -n 's/.*libbpf.so.* => //p' | xargs -n1 readlink -f"
            + " | sort -u); do mount --bind /dev/null $library; done; exec \"$@\"";

    assertThat(inOwnMounts(script, CHILD))
        .contains("support=libbpf: libbpf is missing")
        .contains("install libbpf 1.0 or newer")
        .doesNotContain("Exception");
  }

  @Test
  void unmountedTracefs_isNotNeeded() {
    String script =
        "umount -l /sys/kernel/tracing 2>/dev/null; umount -l /sys/kernel/debug 2>/dev/null;"
            + " exec \"$@\"";

    assertThat(inOwnMounts(script, CHILD)).contains("support=available");
  }

  @Test
  void hiddenKernelTypes_areReported() {
    String script = "mount -t tmpfs none /sys/kernel/btf; exec \"$@\"";

    assertThat(inOwnMounts(script, CHILD)).contains("support=kernel types: no readable");
  }

  @Test
  void seccompFilter_isReported() {
    TestObjects.assumeBpf();

    assertThat(
            ChildProcess.run(ChildProcess.under(List.of("seccomp"), CHILD.toArray(String[]::new))))
        .contains("support=bpf(2): refused, and a seccomp filter is active | allow bpf")
        .contains("the application continues");
  }

  @Test
  void deniedNativeAccess_isReported() {
    List<String> denied = ChildProcess.java(SupportProcess.class, "--illegal-native-access=deny");

    assertThat(ChildProcess.run(denied))
        .contains("support=native access: ")
        .contains("--enable-native-access=ALL-UNNAMED")
        .contains("the application continues");
  }

  private static String unprivileged(List<String> command, String... capabilities) {
    List<String> prefix =
        new ArrayList<>(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
    prefix.addAll(List.of(capabilities));
    return ChildProcess.run(ChildProcess.under(command, prefix.toArray(String[]::new)));
  }

  private static String inOwnMounts(String script, List<String> command) {
    TestObjects.assumeBpf();
    assumeTool("unshare");
    return ChildProcess.run(
        ChildProcess.under(command, "unshare", "--mount", "sh", "-c", script, "sh"));
  }

  private static void assumeTool(String tool) {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin", tool)),
        "needs " + tool + ": apt-get install util-linux");
    TestObjects.assumeBpf();
  }
}
