package io.inferspan.samples.ebpf.cost;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Measures the CPU time of a process that contains only the bridge, while no request is served. */
final class IdleCost {

  private static final double BAR_PERCENT = 0.5;

  /**
   * The time until the bridge's code is compiled. Code that runs a few times per second is compiled
   * late, and costs ten times as much until then.
   */
  private static final long SETTLE_MILLIS = 60_000;

  private static final long SETTLE_WITHOUT_MILLIS = 5_000;

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  void measure(double seconds, Report report) {
    Waiting.millis(SETTLE_WITHOUT_MILLIS);
    double without = percent(seconds);
    double with;
    long events;
    try (Bridge bridge = Bridge.attachToSleep()) {
      Waiting.millis(SETTLE_MILLIS);
      long before = bridge.eventsRead();
      with = percent(seconds);
      events = bridge.eventsRead() - before;
      if (!bridge.isAsleep()) {
        throw new IllegalStateException("A request was sampled, so the bridge was not idle");
      }
    }
    report.say(
        "%nidle and asleep, %% of a core: %.3f with the bridge, %.3f without; %.1f processes per "
            + "second started, exited or mapped a library",
        with, without, events / seconds);
    report.atMost("CPU of an idle bridge, % of a core", with - without, BAR_PERCENT);
  }

  private double percent(double seconds) {
    long cpu = system.getProcessCpuTime();
    long start = System.nanoTime();
    Waiting.millis((long) (seconds * 1000));
    return 100.0 * (system.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
  }
}
