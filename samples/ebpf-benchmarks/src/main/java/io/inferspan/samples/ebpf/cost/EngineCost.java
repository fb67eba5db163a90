package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the cost of tracing an engine that runs 256 requests in each step. The bridge recognises
 * the steps with the vLLM plugin or, without it, by reading the messages between the engine's
 * processes.
 *
 * <p>Two figures show the cost: the loss of steps per second, and the CPU time added to the
 * engine's processes, which other load on the machine affects less. Each measurement starts its own
 * engine.
 */
final class EngineCost {

  private static final int MEMBERS = 256;
  private static final Pattern SECONDS = Pattern.compile("\"seconds\":([\\d.]+)");

  private final Kit kit;
  private final boolean quick;

  /**
   * The ways to observe the engine. The bar is the maximum loss of steps per second, in %, at 200
   * steps per second.
   */
  private enum Watched {
    NOT("unwatched", Double.NaN),
    PLUGIN_ALONE("with the plugin, unwatched", Double.NaN),
    PLUGIN("with the plugin", 1),
    FRAMES("without a plugin", 2);

    private final String label;
    private final double bar;

    Watched(String label, double bar) {
      this.label = label;
      this.bar = bar;
    }

    boolean hasPlugin() {
      return this == PLUGIN || this == PLUGIN_ALONE;
    }
  }

  /** The speed of an engine in one measurement, and its CPU time per step. */
  private record Window(double stepsPerSecond, double cpuMicros) {}

  /** Differences from the unwatched engine of the same round. */
  private static final class Costs {
    private final Samples lost = new Samples();
    private final Samples cpuMicros = new Samples();

    void add(Window watched, Window unwatched) {
      lost.add(100 * (1 - watched.stepsPerSecond / unwatched.stepsPerSecond));
      cpuMicros.add(watched.cpuMicros - unwatched.cpuMicros);
    }
  }

  EngineCost(Kit kit, boolean quick) {
    this.kit = kit;
    this.quick = quick;
  }

  void measure(int rounds, Report report) {
    measure("200 steps per second", 16_500, quick ? 400 : 1_000, rounds, report);
    measure("at full speed", 0, quick ? 1_000 : 2_500, rounds, report);
    for (Watched how : List.of(Watched.PLUGIN, Watched.FRAMES)) {
      programs(how, report);
    }
  }

  private void measure(String what, int decodeNanos, int steps, int rounds, Report report) {
    Samples base = new Samples();
    Samples baseMicros = new Samples();
    Map<Watched, Costs> costs = new EnumMap<>(Watched.class);
    for (int round = 0; round < rounds; round++) {
      List<Watched> order = new ArrayList<>(List.of(Watched.values()));
      if (round % 2 != 0) {
        Collections.reverse(order);
      }
      Map<Watched, Window> windows = new EnumMap<>(Watched.class);
      order.forEach(how -> windows.put(how, window(how, decodeNanos, steps)));
      Window unwatched = Objects.requireNonNull(windows.remove(Watched.NOT));
      base.add(unwatched.stepsPerSecond);
      baseMicros.add(unwatched.cpuMicros);
      windows.forEach(
          (how, watched) -> costs.computeIfAbsent(how, any -> new Costs()).add(watched, unwatched));
    }
    report.say(
        "%nengine %s; unwatched: %.0f steps/s of %d requests, %.0f us of CPU time per step",
        what, base.median(), MEMBERS, baseMicros.median());
    report.say(
        "%-34s     steps/s lost, %%: median, middle half     CPU us/step added: median, middle"
            + " half",
        "");
    costs.forEach(
        (how, cost) -> {
          report.say("%-34s %s %s", how.label, cost.lost.middle(), cost.cpuMicros.middle());
          if (decodeNanos > 0 && how != Watched.PLUGIN_ALONE) {
            report.atMost(how.label + ", 200 steps/s: lost, %", cost.lost.median(), how.bar);
          }
        });
  }

  private Window window(Watched how, int decodeNanos, int steps) {
    try (Engine engine = new Engine(how.hasPlugin(), decodeNanos)) {
      if (how == Watched.NOT || how == Watched.PLUGIN_ALONE) {
        return engine.run(steps);
      }
      try (Bridge bridge = Bridge.attach(Duration.ZERO, libraries(how))) {
        Window window = engine.run(steps);
        bridge.requireSteps(
            how == Watched.PLUGIN ? "control.owner_began" : "control.step_changes", steps);
        return window;
      }
    }
  }

  private static String[] libraries(Watched how) {
    return how == Watched.PLUGIN
        ? new String[] {"libcuda.so.1", "libinferspan_ckp.so"}
        : new String[] {"libcuda.so.1"};
  }

  /**
   * Prints the run time of each BPF program that takes at least 0.1 µs per step. The kernel
   * measures it, and includes its own clock readings.
   */
  private void programs(Watched how, Report report) {
    int steps = 400;
    BridgeConfig.Builder measured =
        BridgeConfig.builder().sleepAfter(Duration.ZERO).measuresPrograms(true);
    try (Engine engine = new Engine(how == Watched.PLUGIN, 16_500);
        Bridge bridge = Bridge.attach(measured, libraries(how))) {
      Window _ = engine.run(steps);
      report.say(
          "%n%-38s runs/step     ns/run     us/step", how.label + ": programs, all processes");
      for (BridgeStatus.Program program : bridge.status().programs()) {
        double micros = program.runNanos() / 1e3 / steps;
        if (micros >= 0.1) {
          report.say(
              "%-38s %8.2f %10.0f %11.2f",
              program.name(),
              (double) program.runs() / steps,
              (double) program.runNanos() / program.runs(),
              micros);
        }
      }
    }
  }

  /** An engine whose first step waits for all requests. */
  private final class Engine implements AutoCloseable {

    private final Process process;
    private final int port;
    private final List<Long> cores;

    Engine(boolean plugin, int decodeNanos) {
      process = kit.engine(plugin, MEMBERS, decodeNanos);
      try {
        port = Integer.parseInt(process.inputReader().readLine());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      cores = process.children().map(ProcessHandle::pid).toList();
      cores.forEach(Kit::move);
    }

    private long cpuNanos() {
      return cores.stream().mapToLong(Kit::cpuNanos).sum();
    }

    Window run(int steps) {
      long before = cpuNanos();
      Samples seconds = new Samples();
      try (HttpClient client =
          HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
        List<CompletableFuture<HttpResponse<String>>> responses = new ArrayList<>();
        for (int number = 0; number < MEMBERS; number++) {
          responses.add(
              client.sendAsync(request(number, steps), HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> one : responses) {
          Matcher reported = SECONDS.matcher(one.join().body());
          if (!reported.find()) {
            throw new IllegalStateException(
                "Unexpected response of the engine: " + one.join().body());
          }
          seconds.add(Double.parseDouble(reported.group(1)));
        }
      }
      return new Window((steps - 1) / seconds.median(), (cpuNanos() - before) / 1e3 / steps);
    }

    private HttpRequest request(int number, int steps) {
      return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
          .timeout(Duration.ofMinutes(5))
          .header("content-type", "application/json")
          .header("x-request-id", "r" + number)
          .header("traceparent", "00-%032x-b7ad6b7169203331-01".formatted(number + 1))
          .POST(
              HttpRequest.BodyPublishers.ofString(
                  "{\"prompt\":[1],\"max_tokens\":%d}".formatted(steps)))
          .build();
    }

    @Override
    public void close() {
      Kit.end(process);
    }
  }
}
