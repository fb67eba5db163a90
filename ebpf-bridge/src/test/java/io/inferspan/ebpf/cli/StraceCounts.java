package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.coldstart.CallRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The counts of {@code strace -f -c}, by the numbers of calls in files of {@code coldstart}. */
final class StraceCounts {

  private static final Path STRACE = Path.of("/usr/bin/strace");
  private static final int LIMIT_SECONDS = 120;
  private static final long MMAP = 9;
  private static final Map<String, Long> COUNTED =
      Map.of("read", 0L, "pread64", 0L, "openat", 257L, "mmap", MMAP, "close", 3L);

  private final Path table;

  StraceCounts(Path directory) {
    assumeTrue(Files.isExecutable(STRACE), "needs strace: apt-get install strace");
    this.table = directory.resolve("strace");
  }

  /** Returns the command that runs another one under strace. */
  List<String> around(List<String> command) {
    List<String> words =
        new ArrayList<>(List.of(STRACE.toString(), "-f", "-c", "-o", table.toString()));
    words.addAll(command);
    return words;
  }

  /** Runs a command and returns what was counted. */
  Map<Long, Long> run(List<String> command) throws IOException, InterruptedException {
    Process strace =
        new ProcessBuilder(around(command))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(strace.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    return counted();
  }

  /** Returns the counts after the command has ended. */
  Map<Long, Long> counted() throws IOException {
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

  /**
   * Returns the same counts of a command that ran under strace, from its first mapping on: before
   * that, its process is strace's.
   */
  static Map<Long, Long> ofTraced(List<CallRecord> records, long strace) {
    return of(
        records.stream()
            .filter(record -> record.pid() != strace)
            .dropWhile(record -> record.call() != MMAP)
            .toList());
  }

  /** Returns the same counts of a file of calls. */
  static Map<Long, Long> of(List<CallRecord> records) {
    Map<Long, Long> counts = new TreeMap<>();
    records.stream()
        .filter(record -> !record.exit() && COUNTED.containsValue(record.call()))
        .forEach(record -> counts.merge(record.call(), 1L, Long::sum));
    return counts;
  }
}
