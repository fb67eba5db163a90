package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A gateway whose bridge lacks a prerequisite: it logs one line, and continues. */
class MissingPrerequisiteIT {

  @Test
  void coreProgramsAreNotAttached_bridgeIsOff() {
    assertThat(lineOf(gateway("once", "unattached")))
        .contains("could not attach context_sys_", "EPERM", "allow bpf(2)")
        .doesNotContain("report this");
  }

  @Test
  void refusedBpf_isReportedInOneLine() {
    assertThat(lineOf(gateway("once", "seccomp"))).contains("seccomp filter", "allow bpf");
  }

  @Test
  void hiddenKernelTypes_areReportedInOneLine() {
    String script = "mount -t tmpfs none /sys/kernel/btf; exec \"$@\"";

    assertThat(lineOf(inOwnMounts(script))).contains("kernel types: no readable");
  }

  @Test
  void missingLibbpf_isReportedInOneLine() {
    String script =
        "for library in $(ldconfig -p | sed -n 's/.*libbpf.so.* => //p' | xargs -n1 readlink -f"
            + " | sort -u); do mount --bind /dev/null $library; done; exec \"$@\"";

    assertThat(lineOf(inOwnMounts(script))).contains("libbpf is missing", "install libbpf 1.0");
  }

  private static List<String> inOwnMounts(String script) {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/unshare")),
        "needs unshare: apt-get install util-linux");
    return ChildProcess.under(gateway("once"), "unshare", "--mount", "sh", "-c", script, "sh");
  }

  /** Runs a command, and returns the only line of its output about the bridge. */
  private static String lineOf(List<String> command) {
    TestObjects.assumeBpf();
    String output =
        ChildProcess.run(ChildProcess.under(command, "env", "OTEL_TRACES_EXPORTER=none"));
    assertThat(output).contains("the application continues").doesNotContain("Exception");
    List<String> lines = output.lines().filter(line -> line.contains("eBPF bridge")).toList();
    assertThat(lines).singleElement().asString().contains("is off; everything else works. ");
    return lines.get(0);
  }

  private static List<String> gateway(String... words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "--enable-native-access=ALL-UNNAMED", "-cp"));
    command.addAll(List.of(ReadableClassPath.all(), BridgeProcess.class.getName()));
    command.addAll(List.of(words));
    return command;
  }
}
