package io.inferspan.samples.ebpf.cost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a threaded server at full load loses when it is watched: requests per second, and CPU time
 * per request beside it.
 */
final class ServerCost {

  private static final int CONNECTIONS = 8;
  private static final long SETTLE_MILLIS = 100;
  private static final int OFF = -1;
  private static final List<Integer> SHARES = List.of(OFF, 0, 10, 100);
  private static final Map<Integer, Double> BARS = Map.of(0, 1.0, 10, 3.0, 100, 10.0);

  private final Kit kit;
  private final long windowMillis;
  private final Map<Integer, Samples> loss = new HashMap<>();
  private final Map<Integer, Samples> moreCpu = new HashMap<>();
  private final Samples base = new Samples();
  private @Nullable Bridge bridge;

  private record Window(double perSecond, double cpuNanos) {}

  ServerCost(Kit kit, double seconds) {
    this.kit = kit;
    this.windowMillis = (long) (seconds * 1000);
  }

  void measure(int rounds, Report report) {
    Process server = kit.server();
    try (BufferedReader says = server.inputReader();
        HttpLoad load = HttpLoad.start(Integer.parseInt(says.readLine()), CONNECTIONS)) {
      for (int round = -1; round < rounds; round++) {
        take(round, rounds(round, server, load));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      detach();
      Kit.end(server);
    }
    say(report);
  }

  /** One window for each share, forth in one round and back in the next. */
  private Map<Integer, Window> rounds(int round, Process server, HttpLoad load) {
    List<Integer> order = new ArrayList<>(SHARES);
    if (round % 2 != 0) {
      Collections.reverse(order);
    }
    Map<Integer, Window> windows = new HashMap<>();
    for (int share : order) {
      if (share == OFF) {
        detach();
      } else if (bridge == null) {
        bridge = Bridge.attach("libcuda.so.1");
      }
      load.sample(Math.max(share, 0));
      windows.put(share, window(server, load));
    }
    return windows;
  }

  private Window window(Process server, HttpLoad load) {
    Waiting.millis(SETTLE_MILLIS);
    long answered = load.answered();
    long cpu = Kit.cpuNanos(server.pid());
    long start = System.nanoTime();
    Waiting.millis(windowMillis);
    double took = System.nanoTime() - start;
    double requests = load.answered() - answered;
    return new Window(requests * 1e9 / took, (Kit.cpuNanos(server.pid()) - cpu) / requests);
  }

  /** The first round warms up. */
  private void take(int round, Map<Integer, Window> windows) {
    if (round < 0) {
      return;
    }
    Window off = Objects.requireNonNull(windows.get(OFF));
    base.add(off.perSecond());
    for (int share : BARS.keySet()) {
      Window on = Objects.requireNonNull(windows.get(share));
      add(loss, share, 100 * (1 - on.perSecond() / off.perSecond()));
      add(moreCpu, share, 100 * (on.cpuNanos() / off.cpuNanos() - 1));
    }
  }

  private static void add(Map<Integer, Samples> all, int share, double figure) {
    all.computeIfAbsent(share, any -> new Samples()).add(figure);
  }

  private void say(Report report) {
    report.say(
        "%na threaded server, %.0f requests a second     median      least       most",
        base.median());
    for (int share : List.of(0, 10, 100)) {
      Samples lost = Objects.requireNonNull(loss.get(share));
      report.say("%3d %% sampled: throughput lost, %%      %s", share, lost);
      report.say(
          "%3d %% sampled: more CPU a request, %%   %s",
          share, Objects.requireNonNull(moreCpu.get(share)));
      report.atMost(
          share + " % sampled: throughput lost, %",
          lost.median(),
          Objects.requireNonNull(BARS.get(share)));
    }
  }

  private void detach() {
    Bridge attached = bridge;
    bridge = null;
    if (attached != null) {
      attached.close();
    }
  }
}
