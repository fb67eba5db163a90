package io.inferspan.samples.ebpf.cost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running bpftrace script, to compare the bridge with. */
final class Bpftrace implements Subject.Watching {

  /** Prints a few kilobytes: bpftrace buffers its output, and the harness waits for this text. */
  private static final String BEGIN =
      "BEGIN { unroll(100) { printf(\"attached; repeated, to fill the buffer\\n\"); } } ";

  private final Process process;
  private final Path output;

  private Bpftrace(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** Starts a script that measures the duration of each call of a function. */
  static Bpftrace timing(Path library, String function) {
    String at = library + ":" + function;
    return start(
        "uprobe:%s { @start[tid] = nsecs; } ".formatted(at)
            + "uretprobe:%s /@start[tid]/ ".formatted(at)
            + "{ @nanos = hist(nsecs - @start[tid]); delete(@start[tid]); }");
  }

  /** Starts a script that prints every read of the load generator. */
  static Bpftrace printingReads() {
    return start(
        "tracepoint:syscalls:sys_exit_read /comm == \"load\"/ "
            + "{ printf(\"%d %d %llu\\n\", tid, args->ret, nsecs); }");
  }

  private static Bpftrace start(String script) {
    try {
      Path output = Files.createTempFile(Path.of("/dev/shm"), "bpftrace", ".txt");
      Process process =
          new ProcessBuilder(List.of("bpftrace", "-B", "full", "-e", BEGIN + script))
              .redirectOutput(output.toFile())
              .redirectErrorStream(true)
              .start();
      Bpftrace started = new Bpftrace(process, output);
      started.awaitAttached();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitAttached() throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!Files.readString(output).contains("attached")) {
      if (System.nanoTime() > deadline || !process.isAlive()) {
        String printed = Files.readString(output);
        close();
        throw new IllegalStateException("bpftrace did not start to trace: " + printed);
      }
      Waiting.millis(50);
    }
    // BEGIN runs before the last probe is attached.
    Waiting.millis(500);
  }

  /** Returns the number of events printed so far. */
  long lines() {
    try (BufferedReader reader = Files.newBufferedReader(output)) {
      return reader
          .lines()
          .filter(line -> !line.isEmpty() && Character.isDigit(line.charAt(0)))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Kit.end(process);
    try {
      Files.deleteIfExists(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
