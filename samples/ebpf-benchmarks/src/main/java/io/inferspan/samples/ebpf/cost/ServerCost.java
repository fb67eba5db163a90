package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.EventFamily;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cost of observing a threaded server at full load: requests per second, and CPU time per
 * request.
 */
final class ServerCost {

  private static final int CONNECTIONS = 8;
  private static final long SETTLE_MILLIS = 300;
  private static final long SETTLE_ATTACHED_MILLIS = 1_000;
  private static final String LIBRARY = "libcuda.so.1";

  /** What the server calls for a request. */
  private static final String[] FUNCTIONS = {
    "cuMemAlloc_v2",
    "cuMemcpyHtoD_v2",
    "cuLaunchKernel",
    "cuStreamSynchronize",
    "cuMemcpyDtoHAsync_v2",
    "cuMemFree_v2"
  };

  private static final Set<EventFamily> NO_LIBRARIES =
      EnumSet.complementOf(EnumSet.of(EventFamily.CUDA, EventFamily.NCCL));

  /** Longer than a window, so that one window has no sampled request. */
  private static final Duration STAYS_AWAKE = Duration.ofSeconds(3);

  private static final double MOST_MORE_CPU_PERCENT = 5;

  /** How far the parts may be from the whole. */
  private static final double MOST_UNEXPLAINED_PERCENT = 10;

  /** A request that waits for the device, as those of real engines do. */
  private static final Map<String, String> WAITS = Map.of("FAKE_CUDA_KERNEL", "7ms");

  private static final double WAITED_MICROS = 20_000;
  private static final double MOST_OF_WAITED_PERCENT = 0.5;

  private final Kit kit;
  private final long windowMillis;
  private final Map<Watched, Samples> loss = new EnumMap<>(Watched.class);
  private final Map<Watched, Samples> moreCpu = new EnumMap<>(Watched.class);
  private final Map<Watched, Samples> addedMicros = new EnumMap<>(Watched.class);
  private final Map<Watched, Samples> switches = new EnumMap<>(Watched.class);
  private final Samples base = new Samples();
  private final Samples baseMicros = new Samples();
  private Subject.@Nullable Watching watching;
  private Attached attached = Attached.NOTHING;

  private record Window(double perSecond, double cpuMicros, double switches) {}

  /** What has to be attached. */
  private enum Attached {
    NOTHING,
    EMPTY_PROBES,
    NO_LIBRARIES,
    EVERYTHING
  }

  /** The kinds of observation, in the order of a round. */
  private enum Watched {
    NOT("unwatched", Attached.NOTHING, 0, Double.NaN),
    EMPTY("empty probes on its library calls", Attached.EMPTY_PROBES, 0, Double.NaN),
    PROGRAMS("0 % sampled, no libraries", Attached.NO_LIBRARIES, 0, Double.NaN),
    ASLEEP("0 % sampled, asleep", Attached.EVERYTHING, 0, 1),
    AWAKE("0 % sampled, awake", Attached.EVERYTHING, 0, 1),
    TENTH("10 % sampled", Attached.EVERYTHING, 10, 3),
    ALL("100 % sampled", Attached.EVERYTHING, 100, 10);

    private final String words;
    private final Attached needs;
    private final int sampledPercent;
    private final double bar;

    Watched(String words, Attached needs, int sampledPercent, double bar) {
      this.words = words;
      this.needs = needs;
      this.sampledPercent = sampledPercent;
      this.bar = bar;
    }

    private boolean isAwake() {
      return needs != Attached.NOTHING && needs != Attached.EMPTY_PROBES && this != ASLEEP;
    }
  }

  ServerCost(Kit kit, double seconds) {
    this.kit = kit;
    this.windowMillis = (long) (seconds * 1000);
  }

  /** A server that is busy all the time: what it loses, and the parts of that. */
  void measureBusy(int rounds, Report report) {
    run(kit.server(Map.of()), List.of(Watched.values()), rounds);
    say(rounds, report);
    for (Watched how : loss.keySet()) {
      if (how.needs == Attached.EVERYTHING) {
        report.atMost(how.words + ": throughput lost, %", of(loss, how).median(), how.bar);
      }
    }
    sayParts(report);
  }

  /** A server whose requests take 20 ms, of which hardly any is its own time on the CPU. */
  void measureWaiting(int rounds, Report report) {
    run(kit.server(WAITS), List.of(Watched.NOT, Watched.AWAKE), rounds);
    say(rounds, report);
    report.atMost(
        "0 % sampled: more CPU, % of a request of 20 ms",
        100 * of(addedMicros, Watched.AWAKE).median() / WAITED_MICROS, MOST_OF_WAITED_PERCENT);
  }

  private void run(Process server, List<Watched> kinds, int rounds) {
    try (BufferedReader says = server.inputReader();
        HttpLoad load = HttpLoad.start(Integer.parseInt(says.readLine()), CONNECTIONS)) {
      for (int round = -1; round < rounds; round++) {
        List<Watched> order = round % 2 == 0 ? kinds : kinds.reversed();
        take(round, windows(order, server, load));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      attach(Attached.NOTHING);
      Kit.end(server);
    }
  }

  /** One window each, in this order. */
  private Map<Watched, Window> windows(List<Watched> order, Process server, HttpLoad load) {
    Map<Watched, Window> windows = new EnumMap<>(Watched.class);
    for (Watched how : order) {
      turnTo(how, load);
      windows.put(how, window(how, server, load));
    }
    return windows;
  }

  private void turnTo(Watched how, HttpLoad load) {
    load.sample(0);
    attach(how.needs);
    if (how == Watched.ASLEEP) {
      Waiting.until("sleep", this::isAsleep);
    } else if (how.isAwake()) {
      load.sample(100);
      Waiting.until("waking", () -> !isAsleep());
      Waiting.millis(SETTLE_MILLIS);
      load.sample(how.sampledPercent);
    }
  }

  private void attach(Attached wanted) {
    if (wanted == attached) {
      return;
    }
    Subject.Watching before = watching;
    watching = null;
    if (before != null) {
      before.close();
    }
    attached = wanted;
    watching =
        switch (wanted) {
          case NOTHING -> null;
          case EMPTY_PROBES -> Floor.attach(kit, "ignore", FUNCTIONS);
          case NO_LIBRARIES -> Bridge.attach(STAYS_AWAKE, NO_LIBRARIES);
          case EVERYTHING -> Bridge.attach(STAYS_AWAKE, Bridge.ALL, LIBRARY);
        };
    if (watching != null) {
      Waiting.millis(SETTLE_ATTACHED_MILLIS);
    }
  }

  private boolean isAsleep() {
    return watching instanceof Bridge bridge && bridge.isAsleep();
  }

  private Window window(Watched how, Process server, HttpLoad load) {
    Waiting.millis(SETTLE_MILLIS);
    require(how);
    long answered = load.answered();
    long cpu = Kit.cpuNanos(server.pid());
    long switched = Kit.switches(server.pid());
    long start = System.nanoTime();
    Waiting.millis(windowMillis);
    double took = System.nanoTime() - start;
    double requests = load.answered() - answered;
    Window window =
        new Window(
            requests * 1e9 / took,
            (Kit.cpuNanos(server.pid()) - cpu) / requests / 1000,
            (Kit.switches(server.pid()) - switched) / requests);
    require(how);
    return window;
  }

  /** A figure of probes that were not as it is said would be a lie. */
  private void require(Watched how) {
    if (isAsleep() != (how == Watched.ASLEEP)) {
      throw new IllegalStateException("The bridge was not as it must be for: " + how.words);
    }
  }

  /** The first round warms up. */
  private void take(int round, Map<Watched, Window> windows) {
    if (round < 0) {
      return;
    }
    Window off = Objects.requireNonNull(windows.get(Watched.NOT));
    base.add(off.perSecond());
    baseMicros.add(off.cpuMicros());
    windows.forEach(
        (how, on) -> {
          add(loss, how, 100 * (1 - on.perSecond() / off.perSecond()));
          add(moreCpu, how, 100 * (on.cpuMicros() / off.cpuMicros() - 1));
          add(addedMicros, how, on.cpuMicros() - off.cpuMicros());
          add(switches, how, on.switches());
        });
  }

  private static void add(Map<Watched, Samples> all, Watched how, double figure) {
    all.computeIfAbsent(how, any -> new Samples()).add(figure);
  }

  private static Samples of(Map<Watched, Samples> all, Watched how) {
    return Objects.requireNonNull(all.get(how));
  }

  private void say(int rounds, Report report) {
    report.say(
        "%na threaded server, %.0f requests a second, %.0f µs of CPU a request, %d rounds",
        base.median(), baseMicros.median(), rounds);
    report.say("%-52s median   middle half: from, to", "");
    for (Watched how : loss.keySet()) {
      report.say("%-48s %s", how.words + ": switches a request", of(switches, how).middle());
      if (how != Watched.NOT) {
        report.say("%-48s %s", how.words + ": throughput lost, %", of(loss, how).middle());
        report.say("%-48s %s", how.words + ": more CPU, %", of(moreCpu, how).middle());
        report.say("%-48s %s", how.words + ": more CPU, µs", of(addedMicros, how).middle());
      }
    }
  }

  /** What the kernel's traps and our programs cost by themselves, compared with both together. */
  private void sayParts(Report report) {
    double whole = of(addedMicros, Watched.AWAKE).median();
    double parts =
        of(addedMicros, Watched.EMPTY).median() + of(addedMicros, Watched.PROGRAMS).median();
    report.say("parts: %.2f µs of %.2f µs", parts, whole);
    report.atMost(
        "0 % sampled, asleep: more CPU, %",
        of(moreCpu, Watched.ASLEEP).median(), MOST_MORE_CPU_PERCENT);
    report.atMost(
        "0 % sampled, awake: more CPU, %",
        of(moreCpu, Watched.AWAKE).median(), MOST_MORE_CPU_PERCENT);
    report.atMost(
        "0 % sampled: parts off the whole, %",
        100 * Math.abs(parts / whole - 1), MOST_UNEXPLAINED_PERCENT);
  }
}
