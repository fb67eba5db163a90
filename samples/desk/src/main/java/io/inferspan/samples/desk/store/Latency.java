package io.inferspan.samples.desk.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Computes percentiles of latency and counts errors, by model, pod or route. */
public final class Latency {

  private Latency() {}

  /** The property that groups requests. */
  public enum By {
    MODEL,
    POD,
    ROUTE;

    /** Returns the grouping with this name, or null. */
    public static @Nullable By named(String name) {
      return Arrays.stream(values())
          .filter(by -> by.name().equalsIgnoreCase(name))
          .findFirst()
          .orElse(null);
    }

    private String of(Sample sample) {
      return switch (this) {
        case MODEL -> sample.model();
        case POD -> sample.pod();
        case ROUTE -> sample.route();
      };
    }
  }

  /** Percentiles in the unit of the values; NaN if there are no values. */
  public record Percentiles(double p50, double p95, double p99) {}

  /**
   * The figures of one group of requests.
   *
   * @param ttft the time to first token, in milliseconds
   * @param tokenGap the mean time between the tokens of a request, in milliseconds
   * @param tokenRate the tokens per second of a request, from its start to its end
   */
  public record Group(
      String name,
      int requests,
      int errors,
      Percentiles ttft,
      Percentiles tokenGap,
      Percentiles tokenRate) {}

  /**
   * Groups the requests that began at or after a time, without open requests; returns the largest
   * group first.
   */
  public static List<Group> of(Stream<Sample> samples, By by, long sinceNanos) {
    Map<String, Samples> groups = new HashMap<>();
    samples
        .filter(sample -> sample.startNanos() >= sinceNanos && sample.status() != Status.OPEN)
        .forEach(
            sample -> groups.computeIfAbsent(by.of(sample), name -> new Samples()).add(sample));
    return groups.entrySet().stream()
        .map(each -> each.getValue().group(each.getKey()))
        .sorted(Comparator.comparingInt(Group::requests).reversed().thenComparing(Group::name))
        .toList();
  }

  private static final class Samples {
    private final List<Double> ttft = new ArrayList<>();
    private final List<Double> tokenGap = new ArrayList<>();
    private final List<Double> tokenRate = new ArrayList<>();
    private int requests;
    private int errors;

    void add(Sample sample) {
      double first = sample.ttftMillis();
      long tokens = sample.tokens();
      double took = sample.tookMillis();
      requests++;
      errors += sample.status() == Status.OK ? 0 : 1;
      if (!Double.isNaN(first)) {
        ttft.add(first);
      }
      if (tokens > 0 && took > 0) {
        tokenRate.add(tokens * 1e3 / took);
      }
      if (tokens > 1 && took > first) {
        tokenGap.add((took - first) / (tokens - 1));
      }
    }

    Group group(String name) {
      return new Group(
          name, requests, errors, percentiles(ttft), percentiles(tokenGap), percentiles(tokenRate));
    }

    private static Percentiles percentiles(List<Double> values) {
      double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      return new Percentiles(at(sorted, 0.5), at(sorted, 0.95), at(sorted, 0.99));
    }

    /**
     * Returns the percentile by the nearest-rank method, which always returns one of the values.
     */
    private static double at(double[] sorted, double share) {
      return sorted.length == 0
          ? Double.NaN
          : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
    }
  }
}
