package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A child process that is controlled by its stdin and stdout, such as a JVM with the tests' class
 * path; killed when it is closed.
 */
final class JavaChild implements AutoCloseable {

  private final Process process;
  private final BufferedReader output;

  private JavaChild(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  static JavaChild start(Class<?> main, Map<String, String> environment, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return start(command, environment);
  }

  static JavaChild start(List<String> command, Map<String, String> environment) {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      return new JavaChild(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    return process.pid();
  }

  /** Returns the next line of its output. */
  String line() {
    try {
      String line = output.readLine();
      assertThat(line).as("a line of the child").isNotNull();
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a line to the program's stdin. */
  void send(String line) {
    try {
      Writer orders = process.outputWriter();
      orders.write(line + "\n");
      orders.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes its stdin, and waits until it has ended. */
  void finish() {
    try {
      process.outputWriter().close();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("the child ended").isTrue();
      assertThat(process.exitValue()).isZero();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
