package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.EventFamily;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures the cost of observing a threaded server at full load: the loss of throughput, and the
 * additional CPU time per request.
 */
final class ServerCost {

  private static final int CONNECTIONS = 8;
  private static final long SETTLE_MILLIS = 300;
  private static final long SETTLE_ATTACHED_MILLIS = 1_000;
  private static final String[] LIBRARIES = {"libcuda.so.1"};
  private static final String[] NONE = {};

  /** Longer than a window, so that the bridge stays awake in a window without sampled requests. */
  private static final Duration STAYS_AWAKE = Duration.ofSeconds(3);

  /** The bar for the CPU time added to a longer request if no request is sampled, in %. */
  private static final double CPU_BAR = 5;

  private final Kit kit;
  private final Served request;
  private final long windowMillis;
  private final Map<Watched, Samples> loss = new EnumMap<>(Watched.class);
  private final Map<Watched, Samples> moreCpu = new EnumMap<>(Watched.class);
  private final Samples base = new Samples();
  private final Samples baseMicros = new Samples();
  private @Nullable Bridge bridge;
  private Set<EventFamily> attached = Set.of();

  /** Requests per second and CPU time per request, measured for one window of time. */
  private record Window(double perSecond, double cpuNanos) {}

  /**
   * The kinds of observation, in the order of a round. "Heads" are the probes that read the heads
   * of HTTP requests, to find sampled ones.
   */
  private enum Watched {
    NOT("unwatched", 0, Double.NaN),
    ASLEEP("0 % sampled, asleep", 0, 1),
    HEADS("0 % sampled, heads and connections only", EventFamily.TCP),
    HEADS_AND_SYSCALLS("0 % sampled, heads and system calls", EventFamily.SYSCALLS),
    HEADS_AND_SCHEDULER("0 % sampled, heads and scheduler", EventFamily.SCHED),
    HEADS_AND_LIBRARIES("0 % sampled, heads and libraries", EventFamily.CUDA),
    AWAKE("0 % sampled, awake", 0, 1),
    TENTH("10 % sampled", 10, 3),
    ALL("100 % sampled", 100, 10);

    private static final List<Watched> ADDED =
        List.of(HEADS_AND_SYSCALLS, HEADS_AND_SCHEDULER, HEADS_AND_LIBRARIES);

    private final String label;
    private final int sampledPercent;
    private final double bar;

    @SuppressWarnings("ImmutableEnumChecker") // nothing changes it
    private final Set<EventFamily> families;

    Watched(String label, int sampledPercent, double bar) {
      this.label = label;
      this.sampledPercent = sampledPercent;
      this.bar = bar;
      this.families = EnumSet.allOf(EventFamily.class);
    }

    /** Creates a combination: the programs that recognise requests, and those of one family. */
    Watched(String label, EventFamily family) {
      this.label = label;
      this.sampledPercent = 0;
      this.bar = Double.NaN;
      this.families = EnumSet.of(family);
    }
  }

  /** The request that the server serves, and the observations to compare. */
  enum Served {
    /** Makes eight library calls. */
    SHORT("/infer", List.of(Watched.values())),
    /** Also adds up numbers, so that it takes about 230 µs of CPU time. */
    LONGER("/work/16000", List.of(Watched.NOT, Watched.AWAKE));

    private final String path;

    @SuppressWarnings("ImmutableEnumChecker") // nothing changes it
    private final List<Watched> order;

    Served(String path, List<Watched> order) {
      this.path = path;
      this.order = order;
    }
  }

  ServerCost(Kit kit, Served request, double seconds) {
    this.kit = kit;
    this.request = request;
    this.windowMillis = (long) (seconds * 1000);
  }

  void measure(int rounds, Report report) {
    Process server = kit.server();
    try (BufferedReader says = server.inputReader();
        HttpLoad load =
            HttpLoad.start(Integer.parseInt(says.readLine()), request.path, CONNECTIONS)) {
      for (int round = -1; round < rounds; round++) {
        take(round, windows(round, server, load));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      detach();
      Kit.end(server);
    }
    say(rounds, report);
  }

  /** Measures one window of each kind; the order is reversed in every other round. */
  private Map<Watched, Window> windows(int round, Process server, HttpLoad load) {
    List<Watched> order = new ArrayList<>(request.order);
    if (round % 2 != 0) {
      Collections.reverse(order);
    }
    Map<Watched, Window> windows = new EnumMap<>(Watched.class);
    for (Watched how : order) {
      switchTo(how, load);
      windows.put(how, window(how, server, load));
    }
    return windows;
  }

  private void switchTo(Watched how, HttpLoad load) {
    load.sample(0);
    if (how == Watched.NOT || !attached.equals(how.families)) {
      detach();
    }
    if (how != Watched.NOT && bridge == null) {
      attached = how.families;
      BridgeConfig.Builder config =
          BridgeConfig.builder().sleepAfter(STAYS_AWAKE).families(attached);
      bridge = Bridge.attach(config, attached.contains(EventFamily.CUDA) ? LIBRARIES : NONE);
      Waiting.millis(SETTLE_ATTACHED_MILLIS);
    }
    if (how == Watched.ASLEEP) {
      Waiting.until("the bridge to fall asleep", this::isAsleep);
    } else if (how != Watched.NOT) {
      load.sample(100);
      Waiting.until("the bridge to wake up", () -> !isAsleep());
      Waiting.millis(SETTLE_MILLIS);
      load.sample(how.sampledPercent);
    }
  }

  private boolean isAsleep() {
    return bridge != null && bridge.isAsleep();
  }

  private Window window(Watched how, Process server, HttpLoad load) {
    Waiting.millis(SETTLE_MILLIS);
    require(how);
    long answered = load.answered();
    long cpu = Kit.cpuNanos(server.pid());
    long start = System.nanoTime();
    Waiting.millis(windowMillis);
    double took = System.nanoTime() - start;
    double requests = load.answered() - answered;
    Window window =
        new Window(requests * 1e9 / took, (Kit.cpuNanos(server.pid()) - cpu) / requests);
    require(how);
    return window;
  }

  /** Fails unless the bridge is asleep or awake, as this kind of observation requires. */
  private void require(Watched how) {
    if (isAsleep() != (how == Watched.ASLEEP)) {
      throw new IllegalStateException(
          "The bridge fell asleep or woke up at the wrong time, while measuring: " + how.label);
    }
  }

  /** Adds a round's results, except those of the first round, which is the warm-up. */
  private void take(int round, Map<Watched, Window> windows) {
    if (round < 0) {
      return;
    }
    Window off = Objects.requireNonNull(windows.remove(Watched.NOT));
    base.add(off.perSecond());
    baseMicros.add(off.cpuNanos() / 1e3);
    windows.forEach(
        (how, on) -> {
          add(loss, how, 100 * (1 - on.perSecond() / off.perSecond()));
          add(moreCpu, how, 100 * (on.cpuNanos() / off.cpuNanos() - 1));
        });
  }

  private static void add(Map<Watched, Samples> all, Watched how, double figure) {
    all.computeIfAbsent(how, any -> new Samples()).add(figure);
  }

  private void say(int rounds, Report report) {
    report.say(
        "%na threaded server, %.0f requests per second, %.0f µs of CPU time each, %d rounds",
        base.median(), baseMicros.median(), rounds);
    report.say("%-50s median   middle half: from, to", "");
    for (Watched how : loss.keySet()) {
      report.say("%-50s %s", how.label + ": throughput lost, %", of(loss, how).middle());
      report.say(
          "%-50s %s", how.label + ": CPU time added per request, %", of(moreCpu, how).middle());
      if (how.bar > 0 && request == Served.SHORT) {
        report.atMost(how.label + ": throughput lost, %", of(loss, how).median(), how.bar);
      }
    }
    if (request == Served.SHORT) {
      sayParts(report);
    } else {
      report.atMost(
          "CPU time added to a request of %.0f µs, 0 %% sampled, %%".formatted(baseMicros.median()),
          of(moreCpu, Watched.AWAKE).median(),
          CPU_BAR);
    }
  }

  private void sayParts(Report report) {
    double heads = of(moreCpu, Watched.HEADS).median();
    double sum = heads;
    for (Watched part : Watched.ADDED) {
      sum += of(moreCpu, part).median() - heads;
    }
    double whole = of(moreCpu, Watched.AWAKE).median();
    report.say(
        "added CPU time per request: sum of the parts (heads, and each family) %.1f %%, measured as"
            + " a whole %.1f %%",
        sum, whole);
    report.atMost(
        "difference between the sum of the parts and the whole, %",
        100 * Math.abs(sum / whole - 1), 10);
  }

  private static Samples of(Map<Watched, Samples> all, Watched how) {
    return Objects.requireNonNull(all.get(how));
  }

  private void detach() {
    Bridge old = bridge;
    bridge = null;
    attached = Set.of();
    if (old != null) {
      old.close();
    }
  }
}
