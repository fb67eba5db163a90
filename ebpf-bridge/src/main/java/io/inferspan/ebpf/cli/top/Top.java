package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Prints the state of each bridge of this machine every second, until the last one has ended. */
public final class Top {

  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final String NONE =
      "no bridge is running on this machine: start the agent, or an application with the bridge on"
          + " its class path";

  private final UnaryOperator<String> redraw;
  private final PrintStream out;
  private final Holder holders = new Holder(Path.of("/proc"));
  private final Map<Integer, String> names = new HashMap<>();
  private Map<Integer, Reading> before = new HashMap<>();

  /**
   * Creates a command that prints to {@code out}.
   *
   * @param redraw prepares a page for {@code out}: on a terminal, adds control sequences so that
   *     the page overwrites the previous one
   */
  public Top(UnaryOperator<String> redraw, PrintStream out) {
    this.redraw = redraw;
    this.out = out;
  }

  /**
   * Prints one page if {@code once}, otherwise a page every second; returns false if no bridge is
   * running.
   */
  public boolean run(boolean once) throws InterruptedException {
    // The kernel measures the run time of BPF programs while this descriptor is open.
    FileDescriptor measuring = RunStats.enable();
    try {
      return watch(once);
    } finally {
      measuring.close();
    }
  }

  private boolean watch(boolean once) throws InterruptedException {
    refresh(RunningBridge.all());
    if (before.isEmpty()) {
      out.println(NONE);
      return false;
    }
    do {
      Thread.sleep(PERIOD);
      String page = refresh(RunningBridge.all());
      if (before.isEmpty()) {
        out.println("the last bridge has ended");
        return true;
      }
      out.print(redraw.apply(page));
      out.flush();
    } while (!once);
    return true;
  }

  /** Returns a page about the bridges that were also in the previous reading. */
  private String refresh(List<RunningBridge> bridges) {
    StringBuilder page = new StringBuilder();
    Map<Integer, Reading> now = new HashMap<>();
    for (RunningBridge bridge : bridges) {
      now.put(bridge.counters(), bridge.reading());
      Reading earlier = before.get(bridge.counters());
      if (earlier != null) {
        page.append(title(bridge)).append(TopText.of(earlier, bridge.reading())).append('\n');
      }
    }
    before = now;
    return page.toString();
  }

  private String title(RunningBridge bridge) {
    String holder = names.computeIfAbsent(bridge.counters(), holders::of);
    Duration up = Duration.ofNanos(Clocks.boottimeNanos() - bridge.loadedNanos());
    return "bridge in %s, up %d:%02d:%02d, %s%n%n"
        .formatted(
            holder,
            up.toHours(),
            up.toMinutesPart(),
            up.toSecondsPart(),
            bridge.reading().asleep() ? "asleep" : "awake");
  }
}
