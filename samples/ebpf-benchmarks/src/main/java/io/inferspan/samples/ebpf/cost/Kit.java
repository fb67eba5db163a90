package io.inferspan.samples.ebpf.cost;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts the observed programs, most of them on the core that the bridge does not use. */
final class Kit {

  static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final Pattern LOAD =
      Pattern.compile(
          "(\\d+) calls, ([\\d.]+) s, \\d+ calls/s, (\\d+) ns of CPU a call, \\d+ clock readings"
              + "(?:, (-?[\\d.]+))?");
  private static final String CORE = Objects.requireNonNullElse(System.getenv("THEIR_CORE"), "1");
  private static final String OUR_CORE = Objects.requireNonNullElse(System.getenv("OUR_CORE"), "0");
  private static final String BOTH_CORES = OUR_CORE + "," + CORE;

  private final Path directory;
  private final Path server;

  Kit(Path directory, Path server) {
    this.directory = directory;
    this.server = server;
  }

  /**
   * The result of a load.
   *
   * @param watched the cost of watching the library, as a share of a core; zero unless the watched
   *     library and an unwatched copy took turns
   */
  record Load(long calls, double seconds, double nanosPerCall, double watched) {}

  Path library() {
    return directory.resolve("libcuda.so.1");
  }

  Path floor() {
    return directory.resolve("floor.bpf.o");
  }

  /** Launches GPU kernels at full speed on one thread, in a request if {@code traced}. */
  Load launch(double seconds, boolean traced) {
    return run(seconds, CORE, "1", traced ? TRACEPARENT : "", "0", "launch");
  }

  /**
   * Launches GPU kernels in a request on one thread, in turns with the watched library and with an
   * unwatched copy.
   *
   * @param perSecond the launches per second of each library, averaged over the turns of both
   */
  Load launchInTurns(double seconds, int perSecond) {
    Path plain = directory.resolve("libplain.so");
    return run(seconds, CORE, "1", TRACEPARENT, Integer.toString(2 * perSecond), plain.toString());
  }

  /**
   * Does the same as {@link #launchInTurns}, in engine steps of {@code perStep} launches; each step
   * ends with a wait for the stream.
   */
  Load stepsInTurns(double seconds, int perSecond, int perStep) {
    String plain = directory.resolve("libplain.so").toString();
    String rate = Integer.toString(2 * perSecond);
    return run(seconds, CORE, "1", TRACEPARENT, rate, plain, Integer.toString(perStep));
  }

  /**
   * Makes empty reads at full speed on two threads, for the highest rate of events. The threads use
   * both cores, because one core cannot produce as many events as the reader can read.
   */
  Load read(double seconds) {
    return run(seconds, BOTH_CORES, "2", TRACEPARENT, "0", "read");
  }

  private Load run(double seconds, String cores, String... more) {
    List<String> command = new ArrayList<>(List.of(loader(), Double.toString(seconds)));
    command.addAll(List.of(more));
    Process process = start(cores, command.toArray(String[]::new));
    try {
      String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      Matcher matcher = LOAD.matcher(line.strip());
      if (!matcher.matches()) {
        throw new IllegalStateException("Unexpected output of the load generator: " + line);
      }
      return new Load(
          Long.parseLong(matcher.group(1)),
          Double.parseDouble(matcher.group(2)),
          Double.parseDouble(matcher.group(3)),
          // Measured only in the turns of the watched library, which are half of the time.
          matcher.group(4) == null ? 0 : Double.parseDouble(matcher.group(4)) / 2);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a nearly idle load generator, so that its library stays mapped and observed. */
  Process keeper() {
    return start(CORE, loader(), "3600", "1", "", "1");
  }

  /** Starts the threaded server; its first line of output is its port. */
  Process server() {
    return start(CORE, "python3", server.toString(), directory.toString(), "/dev/null");
  }

  /** Starts a compute-bound process, which reports its progress on request. */
  Process spin() {
    return start(CORE, directory.resolve("spin").toString());
  }

  /**
   * Starts the stand-in for vLLM V1, without asynchronous scheduling; its first line of output is
   * its port.
   *
   * @param plugin whether the engine loads the vLLM plugin
   * @param members the number of requests that must have arrived before the first step
   * @param decodeNanos the device time per token
   */
  Process engine(boolean plugin, int members, int decodeNanos) {
    List<String> command =
        List.of(
            "/usr/bin/python3",
            server.resolveSibling("engine/engine").toString(),
            "--sync",
            "--release=0.24.0",
            "--libraries=" + directory,
            "--set=most=" + members,
            "--set=gather=" + members,
            "--set=budget=" + 2 * members,
            "--set=decode_ns=" + decodeNanos);
    return start(OUR_CORE, plugin ? pluginIn() : Map.of(), command);
  }

  private Map<String, String> pluginIn() {
    Path plugins = directory.resolve("plugins");
    Path entry = plugins.resolve("inferspan_vllm-0.dist-info");
    try {
      Files.createDirectories(entry);
      Files.writeString(
          entry.resolve("entry_points.txt"),
          "[vllm.general_plugins]\ninferspan = inferspan_vllm:register\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Map.of(
        "INFERSPAN_CKP",
        directory.resolve("libinferspan_ckp.so").toString(),
        "PYTHONPATH",
        plugins + ":" + server.resolveSibling("../ckp").normalize());
  }

  /** Moves a process to the core of the observed programs. */
  static void move(long pid) {
    try {
      Process taskset =
          new ProcessBuilder("taskset", "-a", "-p", "-c", CORE, Long.toString(pid))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (taskset.waitFor() != 0) {
        throw new IllegalStateException("taskset failed for process " + pid);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String loader() {
    return directory.resolve("load").toString();
  }

  /**
   * Starts an agent with this budget and the JVM flags of its image, but without an exporter; waits
   * until it is ready.
   */
  Process agent(double percent, int metricsPort) {
    List<String> command =
        List.of(
            "taskset",
            "-c",
            OUR_CORE,
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:CompileThresholdScaling=0.02",
            "-XX:+UseSerialGC",
            "-Xmx128m",
            "-jar",
            "ebpf-bridge/target/inferspan-ebpf-bridge.jar",
            "agent",
            "--metrics-port",
            Integer.toString(metricsPort));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("INFERSPAN_EBPF_BUDGET", percent + "%");
    builder.environment().put("INFERSPAN_EBPF_SLEEP_AFTER", "0s");
    builder.environment().put("OTEL_TRACES_EXPORTER", "none");
    try {
      Process agent = builder.start();
      for (String line = ""; !line.startsWith("ready:"); ) {
        line = agent.inputReader().readLine();
        if (line == null) {
          throw new IllegalStateException("The agent ended before it was ready");
        }
      }
      return agent;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Process start(String cores, String... command) {
    return start(cores, Map.of(), List.of(command));
  }

  private static Process start(
      String cores, Map<String, String> environment, List<String> command) {
    List<String> pinned = new ArrayList<>(List.of("taskset", "-c", cores));
    pinned.addAll(command);
    try {
      ProcessBuilder builder = new ProcessBuilder(pinned);
      builder.environment().putAll(environment);
      return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the CPU time of a process's living threads. */
  static long cpuNanos(long pid) {
    return cpuNanos(pid, thread -> true);
  }

  /** Returns the CPU time of a process's living threads whose names match. */
  static long cpuNanos(long pid, Predicate<String> names) {
    try (var tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
      return tasks.filter(task -> names.test(name(task))).mapToLong(Kit::ranNanos).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(Path task) {
    try {
      return Files.readString(task.resolve("comm")).strip();
    } catch (IOException ended) {
      return "";
    }
  }

  private static long ranNanos(Path task) {
    try {
      return Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ", 2)[0]);
    } catch (IOException ended) {
      return 0;
    }
  }

  /** Ends a process and waits until it is gone. */
  static void end(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
