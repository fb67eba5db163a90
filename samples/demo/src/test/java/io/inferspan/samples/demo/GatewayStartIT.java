package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.samples.demo.Programs.Jar;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Starts the gateway under the bridge's {@code coldstart} and strace at the same time, and compares
 * their counts of system calls.
 */
class GatewayStartIT {

  private static final String STRACE = "/usr/bin/strace";
  private static final long MMAP = 9;
  private static final Map<String, Long> COUNTED =
      Map.of("read", 0L, "pread64", 0L, "openat", 257L, "mmap", MMAP, "close", 3L);

  @TempDir Path directory;

  @Test
  @Timeout(180)
  void coldstart_recordsTheSystemCallsThatStraceCounts() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "needs root");
    assumeTrue(Files.isExecutable(Path.of(STRACE)), "needs strace: apt-get install strace");
    Path calls = directory.resolve("calls.jsonl");
    Path table = directory.resolve("strace");
    Process tool = start(calls, table);
    String output;
    long strace;
    try (BufferedReader lines = tool.inputReader(StandardCharsets.UTF_8)) {
      StringBuilder said = new StringBuilder();
      String line = lines.readLine();
      while (line != null && !line.contains("Listening on")) {
        said.append(line).append('\n');
        line = lines.readLine();
      }
      assertThat(line).as("%s", said).isNotNull();
      strace = descendant(tool, STRACE).pid();
      assertThat(descendant(tool, "/java").destroy()).isTrue();
      output = String.join("\n", lines.lines().toList());
    } finally {
      tool.destroy();
    }

    assertThat(tool.waitFor()).as(output).isZero();
    assertThat(recorded(calls, strace)).as(output).isEqualTo(counted(table));
  }

  private static Process start(Path calls, Path table) throws IOException {
    Programs programs = new Programs(StackIT.ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    List<String> command =
        new ArrayList<>(List.of("coldstart", "--out", calls.toString(), "--", STRACE, "-f", "-c"));
    command.addAll(List.of("-o", table.toString()));
    command.addAll(
        programs.run(
            Jar.GATEWAY, List.of("--port=0", "--metrics-port=none", "--decode=127.0.0.1:1")));
    ProcessBuilder builder = new ProcessBuilder(programs.run(Jar.AGENT, command));
    builder.environment().put("OTEL_TRACES_EXPORTER", "none");
    return builder.redirectErrorStream(true).start();
  }

  /** Returns the process that runs this program. */
  private static ProcessHandle descendant(Process tool, String program) {
    return tool.descendants()
        .filter(each -> each.info().command().orElse("").endsWith(program))
        .findFirst()
        .orElseThrow();
  }

  /** Counts the calls from the first mmap on; before it, the process still runs strace. */
  private static Map<Long, Long> recorded(Path calls, long strace) throws IOException {
    Map<Long, Long> counts = new TreeMap<>();
    try (Stream<String> lines = Files.lines(calls)) {
      lines
          .map(JsonObject::new)
          .filter(record -> record.getInteger("kind") == 0 && record.getLong("pid") != strace)
          .map(record -> record.getLong("syscall_nr"))
          .dropWhile(call -> call != MMAP)
          .filter(COUNTED::containsValue)
          .forEach(call -> counts.merge(call, 1L, Long::sum));
    }
    return counts;
  }

  private static Map<Long, Long> counted(Path table) throws IOException {
    Map<Long, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(table)) {
      String[] fields = line.strip().split(" +", -1);
      Long call = COUNTED.get(fields[fields.length - 1]);
      if (call != null) {
        counts.merge(call, Long.valueOf(fields[3]), Long::sum);
      }
    }
    return counts;
  }
}
