package io.inferspan.pd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.rig.Awaited;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The sidecar as a separate process, with its output on both streams. */
final class Program implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Process process;
  private final List<String> out = new CopyOnWriteArrayList<>();
  private final List<String> err = new CopyOnWriteArrayList<>();
  private final List<Thread> readers;

  private Program(Process process) {
    this.process = process;
    this.readers =
        List.of(reading(process.getInputStream(), out), reading(process.getErrorStream(), err));
  }

  /** Starts it without this process's settings for tracing and the JVM. */
  static Program start(Map<String, String> env, String... args) throws IOException {
    return start(env, List.of("-Xmx128m"), args);
  }

  /** Starts it with these JVM options. */
  static Program start(Map<String, String> env, List<String> jvm, String... args)
      throws IOException {
    return start(System.getProperty("java.class.path"), env, jvm, args);
  }

  /** Starts it with this class path. */
  static Program start(String classPath, Map<String, String> env, List<String> jvm, String... args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvm);
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath,
            PdSidecar.class.getName()));
    command.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.matches("(OTEL|INFERSPAN)_.*|(JAVA_TOOL|JDK_JAVA)_OPTIONS"));
    builder.environment().putAll(env);
    return new Program(builder.start());
  }

  private static Thread reading(InputStream from, List<String> into) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try (BufferedReader lines = new BufferedReader(new InputStreamReader(from, UTF_8))) {
                lines.lines().forEach(into::add);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  /** Waits for the line that reports the ports. */
  Program ready() {
    Awaited.within(
        PATIENCE,
        "the sidecar listens",
        () -> !process.isAlive() || err.stream().anyMatch(line -> line.contains("listening on")));
    if (!process.isAlive()) {
      throw new AssertionError("it ended: " + err);
    }
    return this;
  }

  /** Sends SIGTERM, as when a pod is deleted. */
  void terminate() {
    process.destroy();
  }

  boolean alive() {
    return process.isAlive();
  }

  /** Waits for its end; returns its exit status. */
  int status() throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("it does not end: " + err);
    }
    for (Thread reader : readers) {
      reader.join();
    }
    return process.exitValue();
  }

  /** Returns its standard output. */
  List<String> out() {
    return out;
  }

  /** Returns its standard error. */
  List<String> err() {
    return err;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
