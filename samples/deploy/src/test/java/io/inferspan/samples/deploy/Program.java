package io.inferspan.samples.deploy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One of our programs, which a manifest runs as an image. */
enum Program {
  GATEWAY("inferspan-vertx-gateway", "io.inferspan.samples.gateway.GatewayMain"),
  SIDECAR("inferspan-pd-sidecar", "io.inferspan.pd.PdSidecar"),
  AGENT("inferspan-ebpf-bridge", "io.inferspan.ebpf.cli.EbpfTool");

  private static final int LIMIT_SECONDS = 30;

  private final String image;
  private final String main;

  Program(String image, String main) {
    this.image = image;
    this.main = main;
  }

  String image() {
    return image;
  }

  /** Returns the help text of the program. */
  String help() throws IOException, InterruptedException {
    List<String> arguments = this == AGENT ? List.of("agent", "--help") : List.of("--help");
    Running running = start(arguments, Map.of());
    try (running) {
      if (!running.process().waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError(this + " did not exit after it printed its help");
      }
      return running.said();
    }
  }

  /** A process of the program, and its log file. */
  record Running(Process process, Path log) implements AutoCloseable {

    String said() throws IOException {
      return Files.readString(log);
    }

    @Override
    public void close() throws IOException, InterruptedException {
      process.destroy();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      Files.delete(log);
    }
  }

  Running start(List<String> arguments, Map<String, String> environment) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx256m"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", classPath(), main));
    command.addAll(arguments);
    Path log = Files.createTempFile("program", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("OTEL_") || name.startsWith("INFERSPAN_"));
    builder.environment().putAll(environment);
    return new Running(builder.start(), log);
  }

  private String classPath() {
    String all = System.getProperty("java.class.path");
    if (this != GATEWAY) {
      return all;
    }
    // A bridge on the class path would start; no manifest has it there.
    return List.of(all.split(File.pathSeparator, -1)).stream()
        .filter(part -> !part.contains("ebpf-bridge"))
        .reduce((one, other) -> one + File.pathSeparator + other)
        .orElseThrow();
  }
}
