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

/**
 * Shows the bridges of this machine every second, until interrupted or the last bridge has ended.
 */
public final class Top {

  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final String NONE =
      "no bridge runs on this machine: start the agent, or a program that has the bridge on its"
          + " class path";

  private final UnaryOperator<String> picture;
  private final PrintStream out;
  private final Holder holders = new Holder(Path.of("/proc"));
  private final Map<Integer, String> names = new HashMap<>();
  private Map<Integer, Reading> before = new HashMap<>();

  /**
   * Prints to {@code out}.
   *
   * @param picture on a terminal, adds the control sequences that overwrite the previous page
   */
  public Top(UnaryOperator<String> picture, PrintStream out) {
    this.picture = picture;
    this.out = out;
  }

  /** Prints one page, or pages until the end; returns false if no bridge runs. */
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
    look(RunningBridge.all());
    if (before.isEmpty()) {
      out.println(NONE);
      return false;
    }
    do {
      Thread.sleep(PERIOD);
      String page = look(RunningBridge.all());
      if (before.isEmpty()) {
        out.println("the bridge has ended");
        return true;
      }
      out.print(picture.apply(page));
      out.flush();
    } while (!once);
    return true;
  }

  /** Returns a page for each bridge that was already present at the previous reading. */
  private String look(List<RunningBridge> bridges) {
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
    return "the bridge in %s, for %d:%02d:%02d, %s%n%n"
        .formatted(
            holder,
            up.toHours(),
            up.toMinutesPart(),
            up.toSecondsPart(),
            bridge.reading().asleep() ? "asleep" : "awake");
  }
}
