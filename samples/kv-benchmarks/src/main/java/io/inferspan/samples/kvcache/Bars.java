package io.inferspan.samples.kvcache;

import io.inferspan.samples.kvcache.LookupTurns.Kind;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the benchmarks, compares the results with the bars (performance goals), and exits with
 * status 1 if one is missed.
 */
public final class Bars {

  private static final List<Class<?>> BENCHMARKS =
      List.of(
          BlockKeysBenchmark.class,
          LookupBenchmark.class,
          CostCurveBenchmark.class,
          RedisLookupBenchmark.class);

  /**
   * The limit for "allocates nothing": less than one object. The profiler adds a share of its own
   * allocation.
   */
  private static final double NO_BYTES = 8;

  private static final double NANOS_PER_MILLI = 1e6;

  private final Map<String, RunResult> results = new TreeMap<>();
  private boolean missed;

  private Bars() {}

  /**
   * Runs all benchmarks, which takes a few minutes; with {@code tracing}, only the cost of spans.
   */
  public static void main(String[] args) throws RunnerException {
    Bars bars = new Bars();
    if (List.of(args).contains("tracing")) {
      bars.tracing().print();
    } else {
      bars.all();
    }
    System.exit(bars.missed ? 1 : 0);
  }

  private void all() throws RunnerException {
    ChainedOptionsBuilder options = new OptionsBuilder().addProfiler(GCProfiler.class);
    BENCHMARKS.forEach(type -> options.include(type.getName()));
    collect(new Runner(options.build()).run());
    compare();
  }

  /**
   * Collects the results by the name and the parameter of the benchmark; no benchmark has several
   * parameters.
   */
  private void collect(Collection<RunResult> runs) {
    for (RunResult run : runs) {
      String name = run.getParams().getBenchmark().replaceAll(".*\\.", "");
      for (String key : run.getParams().getParamsKeys()) {
        name += "." + run.getParams().getParam(key);
      }
      results.put(name, run);
    }
  }

  private void compare() {
    System.out.printf(Locale.ROOT, "%n%-56s %12s %12s%n", "", "measured", "bar");
    atMost("xxh64: ms for 32,768 tokens", nanos("xxh64") / NANOS_PER_MILLI, 1.2);
    atLeast("xxh64: times as fast as cbor-fnv with a CBOR library", "plainCborFnv", "xxh64", 5);
    for (String order : List.of("byPod", "byBlock")) {
      atMost(
          "lookup of 2,000 blocks, stored " + order + ": bytes allocated",
          bytes("lookup." + order),
          NO_BYTES);
      atMost(
          "lookup and score, stored " + order + ": bytes beyond the result",
          bytes("lookupAndScore." + order) - bytes("score." + order),
          NO_BYTES);
    }
    flat("same prompt, 1k to 1M blocks: slowest / fastest lookup", "samePrompt");
    flat("prompts in turn, 1k to 1M blocks: slowest / fastest", "promptsInTurn");
    redis();
    TracingOverhead tracing = tracing();
    print();
    tracing.print();
  }

  private TracingOverhead tracing() {
    TracingOverhead tracing = TracingOverhead.measure();
    atMost(
        "lookup of 200 blocks, unsampled / without tracing", tracing.ratio(Kind.UNSAMPLED), 1.02);
    atMost("lookup of 200 blocks, sampled / without tracing", tracing.ratio(Kind.SAMPLED), 1.10);
    return tracing;
  }

  private void redis() {
    for (String order : List.of("byPod", "byBlock")) {
      String what = "in memory, stored " + order + ": times as fast as Redis";
      if (results.containsKey("redisLookupAndScore")) {
        atLeast(what, "redisLookupAndScore", "lookupAndScore." + order, 20);
      } else {
        System.out.printf(Locale.ROOT, "%-56s not measured: redis-server did not run%n", what);
      }
    }
  }

  private void flat(String what, String benchmark) {
    double[] curve =
        results.keySet().stream()
            .filter(name -> name.startsWith(benchmark + "."))
            .mapToDouble(this::nanos)
            .sorted()
            .toArray();
    atMost(what, curve[curve.length - 1] / curve[0], 2);
  }

  private void print() {
    System.out.printf(Locale.ROOT, "%nper prompt%n");
    for (String name : results.keySet()) {
      System.out.printf(
          Locale.ROOT, "%-56s %9.1f us %9.1f B%n", name, nanos(name) / 1e3, bytes(name));
    }
    System.out.printf(
        Locale.ROOT, "%nThe result of a score over 16 pods is %.0f bytes.%n", bytes("score.byPod"));
    System.out.printf(
        Locale.ROOT,
        "Compared with simple code for the same keys: cbor-fnv %.1f × as fast, xxh64 %.1f ×.%n",
        nanos("plainCborFnv") / nanos("cborFnv"),
        nanos("plainXxh64") / nanos("xxh64"));
    System.out.printf(
        Locale.ROOT,
        "cbor-fnv takes %.2f times as long as FNV-1a alone over the same bytes.%n",
        nanos("cborFnv") / nanos("fnvAlone"));
  }

  private void atLeast(String what, String slow, String fast, double bar) {
    double times = nanos(slow) / nanos(fast);
    row(what, times, bar, times >= bar);
  }

  private void atMost(String what, double measured, double bar) {
    row(what, measured, bar, measured <= bar);
  }

  private void row(String what, double measured, double bar, boolean met) {
    missed |= !met;
    System.out.printf(
        Locale.ROOT, "%-56s %12.3f %12.2f  %s%n", what, measured, bar, met ? "ok" : "MISS");
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
