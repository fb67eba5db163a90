package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM started by a command that takes away its privileges or its files. */
public final class ChildProcess {

  private static final int TIMEOUT_SECONDS = 60;

  private ChildProcess() {}

  /**
   * Returns the command of a JVM that runs a main class, with only this module on its class path.
   */
  public static List<String> java(Class<?> main, String... flags) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx128m", "-XX:+UseSerialGC"));
    command.addAll(List.of(flags));
    command.addAll(List.of("-cp", ReadableClassPath.own()));
    command.add(main.getName());
    return command;
  }

  /** Runs a command to its end and returns its output, including errors. */
  public static String run(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as(output).isTrue();
      assertThat(process.exitValue()).as(output).isZero();
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while running " + command, e);
    }
  }

  /** Returns a command with a prefix, such as one that changes the user. */
  public static List<String> under(List<String> command, String... prefix) {
    List<String> all = new ArrayList<>(List.of(prefix));
    all.addAll(command);
    return all;
  }
}
