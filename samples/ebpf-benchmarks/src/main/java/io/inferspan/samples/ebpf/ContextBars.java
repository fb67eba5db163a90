package io.inferspan.samples.ebpf;

import java.util.Collection;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the context benchmark, compares the results with the bars (performance goals), and exits
 * with status 1 if one is missed.
 */
public final class ContextBars {

  private static final double PUBLISHED_NANOS = 30;
  private static final double UNSAMPLED_NANOS = 5;
  private static final double BYTES = 0.5;

  private final TreeMap<String, RunResult> results = new TreeMap<>();
  private boolean missed;

  private ContextBars() {}

  /** Runs all benchmarks, which takes over three minutes. */
  public static void main(String[] arguments) throws RunnerException {
    Options options =
        new OptionsBuilder()
            .include(ContextBenchmark.class.getSimpleName())
            .jvmArgsAppend("--enable-native-access=ALL-UNNAMED")
            .addProfiler(GCProfiler.class)
            .build();
    ContextBars bars = new ContextBars();
    bars.collect(new Runner(options).run());
    bars.compare();
    System.exit(bars.missed ? 1 : 0);
  }

  private void collect(Collection<RunResult> runs) {
    for (RunResult run : runs) {
      String name = run.getParams().getBenchmark().replaceAll(".*\\.", "");
      results.put(name + "." + run.getParams().getParam("storage"), run);
    }
  }

  private void compare() {
    System.out.printf(Locale.ROOT, "%n%-46s %12s %12s%n", "", "measured", "bar");
    atMost("set and clear, sampled: ns", nanos("oneRequest.published"), PUBLISHED_NANOS);
    atMost("set and clear, sampled: bytes allocated", bytes("oneRequest.published"), BYTES);
    double added = nanos("unsampled.published") - nanos("unsampled.plain");
    atMost("unsampled: ns added by the library", added, UNSAMPLED_NANOS);
    atMost("unsampled: bytes allocated", bytes("unsampled.published"), BYTES);
    System.out.printf(Locale.ROOT, "%n%-46s %12s%n", "for comparison", "");
    for (String name : results.keySet()) {
      System.out.printf(Locale.ROOT, "%-46s %9.1f ns %9.1f B%n", name, nanos(name), bytes(name));
    }
  }

  private void atMost(String what, double measured, double bar) {
    boolean met = measured <= bar;
    missed |= !met;
    System.out.printf(
        Locale.ROOT, "%-46s %12.2f %12.2f %s%n", what, measured, bar, met ? "ok" : "MISS");
  }

  private double nanos(String name) {
    return result(name).getPrimaryResult().getScore();
  }

  private double bytes(String name) {
    return Objects.requireNonNull(
            result(name).getSecondaryResults().get("gc.alloc.rate.norm"), "no allocation measured")
        .getScore();
  }

  private RunResult result(String name) {
    return Objects.requireNonNull(results.get(name), name);
  }
}
