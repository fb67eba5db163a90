package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A gateway whose bridge lacks something it needs: one line of the log, and it runs on. */
class ShortOfSomethingTest {

  @Test
  void coreThatIsNotAttached_isNoBridge() {
    assertThat(lineOf(gateway("once", "unattached"))).contains("attaching", "EPERM");
  }

  /** Runs it to its end, and returns the one line that it says of its bridge. */
  private static String lineOf(List<String> command) {
    TestObjects.assumeBpf();
    String output =
        ChildProcess.run(ChildProcess.under(command, "env", "OTEL_TRACES_EXPORTER=none"));
    assertThat(output).contains("and the application runs on").doesNotContain("Exception");
    List<String> lines =
        output.lines().filter(line -> line.contains("eBPF bridge")).toList();
    assertThat(lines).singleElement().asString().contains("is off, the rest goes on: ");
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
