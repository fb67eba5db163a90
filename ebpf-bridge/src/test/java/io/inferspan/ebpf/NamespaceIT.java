package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A bridge in a PID namespace, where pids differ from those that the kernel uses. */
class NamespaceIT {

  @Test
  void processesSelectedInAPidNamespace_areNotConfusedWithOthers() {
    TestObjects.assumeBpf();
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/unshare")),
        "needs unshare: apt-get install util-linux");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            BridgeProcess.class.getName(),
            "once",
            "targets");
    String script = "sleep 100 & \"$@\"";

    String output =
        ChildProcess.run(
            ChildProcess.under(
                command,
                "env",
                "OTEL_TRACES_EXPORTER=none",
                "INFERSPAN_EBPF_SCOPE=command:sleep",
                "unshare",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
                "-c",
                script,
                "sh"));

    assertThat(output)
        .contains("processes cannot be selected by pid or name in a PID namespace")
        .contains("targets: []");
  }
}
