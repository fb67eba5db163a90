package io.inferspan.ebpf.flame;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of the slowest requests, and those of all other requests.
 *
 * @param summary one line with the numbers of requests
 */
public record SlowRequests(StackCounts others, StackCounts slowest, String summary) {

  /** Keeps a rounding error of the division from adding a request. */
  private static final double ROUNDING = 1e-9;

  private static final double PERCENT = 100;

  /**
   * Divides requests by duration.
   *
   * @param counts stacks that begin with the trace of their request
   * @param percent the share of slow requests, rounded up to a whole request
   * @param millis the duration of each request by trace id; other requests are left out. If null,
   *     the slowest are the requests with the highest sum over their stacks
   */
  public static SlowRequests of(
      StackCounts counts, double percent, @Nullable Map<String, Double> millis) throws IOException {
    Map<String, StackCounts> traces = counts.byTrace();
    Map<String, Double> lengths = millis == null ? weights(traces) : millis;
    List<String> order = new ArrayList<>(lengths.keySet());
    order.sort(
        Comparator.<String>comparingDouble(trace -> -length(lengths, trace))
            .thenComparing(Comparator.naturalOrder()));
    int slow = (int) Math.max(1, Math.ceil(order.size() * percent / PERCENT - ROUNDING));
    if (slow >= order.size()) {
      throw new IOException("too few requests to compare: %d".formatted(order.size()));
    }
    StackCounts slowest = sum(order.subList(0, slow), traces, counts.unit());
    StackCounts others = sum(order.subList(slow, order.size()), traces, counts.unit());
    if (slowest.sorted().isEmpty() || others.sorted().isEmpty()) {
      throw new IOException(
          "there are no stacks of the %s"
              .formatted(slowest.sorted().isEmpty() ? "slowest requests" : "other requests"));
    }
    String unit = millis == null ? counts.unit().word() : "ms";
    String from =
        BigDecimal.valueOf(length(lengths, order.get(slow - 1)))
            .stripTrailingZeros()
            .toPlainString();
    String summary =
        "slowest: %d of %d requests, %s %s or more".formatted(slow, order.size(), from, unit);
    return new SlowRequests(others, slowest, summary);
  }

  private static double length(Map<String, Double> lengths, String trace) {
    return lengths.getOrDefault(trace, 0.0);
  }

  private static Map<String, Double> weights(Map<String, StackCounts> traces) {
    Map<String, Double> weights = new HashMap<>();
    traces.forEach((trace, stacks) -> weights.put(trace, (double) stacks.total()));
    return weights;
  }

  private static StackCounts sum(List<String> chosen, Map<String, StackCounts> traces, Unit unit) {
    StackCounts sum = new StackCounts(unit);
    for (String trace : chosen) {
      StackCounts stacks = traces.get(trace);
      if (stacks != null) {
        sum.addAll(stacks);
      }
    }
    return sum;
  }
}
