package io.inferspan.samples.benchmarks;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the benchmarks, compares the results with the bars (performance goals), and exits with
 * status 1 if one is missed.
 */
public final class Bars {

  private static final int SPANS = 8;
  private static final String STREAM = "chat";

  private final Map<String, RunResult> results = new TreeMap<>();
  private boolean missed;

  private Bars() {}

  /** Runs all benchmarks, which takes a few minutes. */
  public static void main(String[] args) throws RunnerException {
    Options options =
        new OptionsBuilder()
            .include(RequestSpansBenchmark.class.getSimpleName())
            .include(PropagationBenchmark.class.getSimpleName())
            .include(ResponseTapBenchmark.class.getSimpleName())
            .param("flavour", STREAM)
            .param("memory", "heap")
            .addProfiler(GCProfiler.class)
            .build();
    Bars bars = new Bars();
    bars.collect(new Runner(options).run());
    bars.compare();
    System.exit(bars.missed ? 1 : 0);
  }

  private void collect(Collection<RunResult> runs) {
    for (RunResult run : runs) {
      String trace = run.getParams().getParam("trace");
      String name = run.getParams().getBenchmark().replaceAll(".*\\.", "");
      results.put(trace == null ? name : name + "." + trace, run);
    }
  }

  private void compare() {
    System.out.printf(Locale.ROOT, "%n%-46s %12s %12s%n", "", "measured", "bar");
    ratio("unsampled: time / SDK by hand", "inferspan.unsampled", "raw.unsampled", 0.25);
    atMost("unsampled: bytes allocated per request", bytes("inferspan.unsampled"), 0.5);
    ratio("sampled: time / SDK by hand", "inferspan.sampled", "raw.sampled", 1.0);
    atMost(
        "sampled: bytes allocated / SDK by hand",
        bytes("inferspan.sampled") / bytes("raw.sampled"),
        0.6);
    atMost("off: ns per span", nanos("inferspan.off") / SPANS, 3.0);
    atMost("off: bytes allocated per request", bytes("inferspan.off"), 0.5);
    ratio("inject: time / SDK by hand", "injectInferspan", "injectRaw", 1.0);
    atMost(
        "inject: bytes allocated / SDK by hand",
        bytes("injectInferspan") / bytes("injectRaw"),
        0.5);
    ratio("extract: time / SDK by hand", "extractInferspan", "extractRaw", 1.0);
    atMost(
        "extract: bytes allocated / SDK by hand",
        bytes("extractInferspan") / bytes("extractRaw"),
        0.5);
    atMost(
        "observed stream: ns per byte",
        nanos("observedChunks") / ResponseTapBenchmark.bytes(STREAM),
        1.0);
    atMost("observed stream: bytes allocated per 64 chunks", bytes("observedChunks"), 0.5);
    ratio("stream not observed: time / summing its bytes", "unobservedChunks", "sumOfBytes", 0.02);
    System.out.printf(Locale.ROOT, "%n%-46s %12s%n", "for comparison, per request or call", "");
    for (String name : results.keySet()) {
      System.out.printf(Locale.ROOT, "%-46s %9.1f ns %9.1f B%n", name, nanos(name), bytes(name));
    }
  }

  private void ratio(String what, String ours, String theirs, double bar) {
    atMost(what, nanos(ours) / nanos(theirs), bar);
  }

  private void atMost(String what, double measured, double bar) {
    boolean met = measured <= bar;
    missed |= !met;
    System.out.printf(
        Locale.ROOT, "%-46s %12.2f %12.2f %s%n", what, measured, bar, met ? "" : " MISSED");
  }

  private double nanos(String name) {
    return result(name).getPrimaryResult().getScore();
  }

  private double bytes(String name) {
    return Objects.requireNonNull(result(name).getSecondaryResults().get("gc.alloc.rate.norm"))
        .getScore();
  }

  private RunResult result(String name) {
    return Objects.requireNonNull(results.get(name), name);
  }
}
