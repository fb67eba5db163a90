package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.ReadableClassPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The tool in a process of its own, and its output. */
final class ToolProcess implements AutoCloseable {

  private static final long LIMIT_NANOS = 60_000_000_000L;
  private static final int POLL_MILLIS = 10;

  private final Process process;
  private final Path output;

  private ToolProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  static ToolProcess start(
      Path directory, Map<String, String> environment, List<String> prefix, String... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(command());
    command.addAll(List.of(arguments));
    try {
      Path output = Files.createTempFile(directory, "output", ".txt");
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      return new ToolProcess(builder.start(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the command line of the tool, without its arguments. */
  static List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-Xmx256m",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        ReadableClassPath.all(),
        EbpfTool.class.getName());
  }

  long pid() {
    return process.pid();
  }

  String output() {
    try {
      return Files.readString(output, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ToolProcess awaitOutput(String text) throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!output().contains(text)) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        throw new AssertionError("no '" + text + "' in the output: " + output());
      }
      Thread.sleep(POLL_MILLIS);
    }
    return this;
  }

  ToolProcess terminate() {
    process.destroy();
    return this;
  }

  /** Kills the process with SIGKILL. */
  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  int exitStatus() throws InterruptedException {
    if (!process.waitFor(LIMIT_NANOS, TimeUnit.NANOSECONDS)) {
      throw new AssertionError("the tool does not end; its output: " + output());
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
