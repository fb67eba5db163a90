package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Made-up endpoints and requests for tests. */
public final class Fleet {

  private static final long A_MINUTE = 60_000_000_000L;

  private Fleet() {}

  /** Pods {@code ns/a}, {@code ns/b} … at 10.0.0.1:8000, 10.0.0.2:8000 … */
  public static List<Endpoint> pods(int count) {
    List<Endpoint> pods = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      pods.add(pod(i));
    }
    return pods;
  }

  /** The pod at a position of {@link #pods}. */
  public static Endpoint pod(int i) {
    return Endpoint.of("ns", String.valueOf((char) ('a' + i)), "10.0.0." + (i + 1), 8000);
  }

  /** A pod with a role. */
  public static Endpoint pod(int i, String role) {
    return pod(i).withLabels(Map.of("llm-d.ai/role", role));
  }

  /** A cycle for {@code request} with a distant deadline. */
  public static Cycle cycle(InferenceRequest request) {
    return new Cycle(request, Context.root(), System.nanoTime() + A_MINUTE);
  }

  /** A scheduling of a request of which nothing is known. */
  public static Cycle cycle() {
    return cycle(InferenceRequest.to("m").build());
  }

  /** Returns {@code count} tokens: {@code from}, {@code from + 1} … */
  public static int[] tokens(int from, int count) {
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = from + i;
    }
    return tokens;
  }

  /** The scores that {@code scorer} gives at once. */
  public static double[] scores(Scorer scorer, Cycle cycle, List<Endpoint> endpoints) {
    Scores scores =
        scorer
            .score(cycle, endpoints, Scores.of(endpoints.size()), Context.root())
            .toCompletableFuture()
            .getNow(null);
    double[] values = new double[scores.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = scores.isScored(i) ? scores.at(i) : Double.NaN;
    }
    return values;
  }

  /** Headers that are discarded. */
  public static PreRequest.Headers noHeaders() {
    return PreRequest.Headers.of(new HashMap<>());
  }
}
