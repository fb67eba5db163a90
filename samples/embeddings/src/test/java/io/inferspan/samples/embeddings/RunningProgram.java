package io.inferspan.samples.embeddings;

import io.inferspan.samples.ondesk.OnTheDeskContract.Gateway;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A program in a separate JVM, with a minimal class path. */
final class RunningProgram implements Gateway {

  private static final long START_SECONDS = 30;
  private static final String LISTENING = "listening on ";

  private final Process process;
  private final int port;

  private RunningProgram(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * The command that starts a program.
   *
   * @param main its main class
   * @param leftOut parts of the names of jars to omit from the class path
   * @param flags JVM flags
   */
  record Command(Class<?> main, List<String> leftOut, List<String> flags) {

    static Command of(Class<?> main, String... leftOut) {
      return new Command(main, List.of(leftOut), List.of());
    }

    Command flag(String flag) {
      return new Command(main, leftOut, List.of(flag));
    }

    private List<String> words(String engine) {
      List<String> words = new ArrayList<>();
      words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      words.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx256m"));
      words.addAll(flags);
      words.addAll(List.of("-cp", classPath(), main.getName(), engine, "0"));
      return words;
    }

    private String classPath() {
      return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
          .filter(part -> leftOut.stream().noneMatch(part::contains))
          .collect(Collectors.joining(File.pathSeparator));
    }

    /** Starts the program with the engine as first argument and a free port as second. */
    RunningProgram start(String engine, String collector) throws IOException, InterruptedException {
      ProcessBuilder builder = new ProcessBuilder(words(engine)).redirectErrorStream(true);
      builder
          .environment()
          .keySet()
          .removeIf(name -> name.startsWith("OTEL_") || name.startsWith("INFERSPAN_"));
      builder
          .environment()
          .putAll(
              Map.of(
                  "OTEL_EXPORTER_OTLP_ENDPOINT", collector,
                  "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc",
                  "OTEL_TRACES_SAMPLER", "parentbased_always_on",
                  "OTEL_BSP_SCHEDULE_DELAY", "50",
                  "OTEL_METRICS_EXPORTER", "none",
                  "OTEL_LOGS_EXPORTER", "none"));
      Process process = builder.start();
      return new RunningProgram(process, portOf(process));
    }
  }

  private static int portOf(Process process) throws InterruptedException {
    Queue<String> said = new ConcurrentLinkedQueue<>();
    CompletableFuture<Integer> port = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("program-output").start(() -> read(process, said, port));
    try {
      return port.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      process.destroyForcibly();
      throw new AssertionError("the program did not start: " + String.join("\n", said), e);
    }
  }

  /** Reads to the end, so that the program never blocks on its output. */
  private static void read(Process process, Queue<String> said, CompletableFuture<Integer> port) {
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        said.add(line);
        if (line.startsWith(LISTENING)) {
          port.complete(Integer.parseInt(line.substring(LISTENING.length())));
        }
      }
    } catch (IOException e) {
      said.add(e.toString());
    }
    port.completeExceptionally(new IOException("it ended"));
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
