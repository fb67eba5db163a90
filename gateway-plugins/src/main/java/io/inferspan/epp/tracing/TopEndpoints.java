package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scores;
import io.inferspan.semconv.EppAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The endpoints with the best scores: more would make spans grow with the fleet.
 *
 * @param ids the endpoints, best first, equals by name
 * @param scores their scores
 */
record TopEndpoints(List<String> ids, List<Double> scores) {

  private static final int LIMIT = 5;

  static TopEndpoints of(List<Endpoint> endpoints, Scores scores) {
    List<Integer> best =
        IntStream.range(0, Math.min(endpoints.size(), scores.size()))
            .boxed()
            .sorted(
                Comparator.comparingDouble((Integer i) -> -scores.at(i))
                    .thenComparing(i -> endpoints.get(i).id()))
            .limit(LIMIT)
            .toList();
    return new TopEndpoints(
        best.stream().map(i -> endpoints.get(i).id()).toList(),
        best.stream().map(scores::at).toList());
  }

  void describe(OperationSpan span) {
    if (!ids.isEmpty()) {
      span.set(EppAttributes.PICKER_TOP_ENDPOINTS, ids)
          .set(EppAttributes.PICKER_TOP_SCORES, scores);
    }
  }
}
