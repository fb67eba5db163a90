package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Scores;
import io.inferspan.semconv.EppAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The endpoints with the best scores, limited in number because a fleet may be large.
 *
 * @param ids the endpoints, best first, those with equal scores by name
 * @param scores their scores
 */
record TopEndpoints(List<String> ids, List<Double> scores) {

  private static final int LIMIT = 5;

  /** Selects the endpoints in one pass, because this runs for each sampled request. */
  static TopEndpoints of(List<Endpoint> endpoints, Scores scores) {
    int count = Math.min(endpoints.size(), scores.size());
    TopEndpoints top = new TopEndpoints(new ArrayList<>(LIMIT + 1), new ArrayList<>(LIMIT + 1));
    for (int i = 0; i < count; i++) {
      top.offer(endpoints.get(i).id(), scores.at(i));
    }
    return top;
  }

  private void offer(String id, double score) {
    int rank = ids.size();
    while (rank > 0 && isBefore(id, score, rank - 1)) {
      rank--;
    }
    if (rank < LIMIT) {
      ids.add(rank, id);
      scores.add(rank, score);
    }
    if (ids.size() > LIMIT) {
      ids.remove(LIMIT);
      scores.remove(LIMIT);
    }
  }

  private boolean isBefore(String id, double score, int other) {
    int byScore = Double.compare(score, scores.get(other));
    return byScore > 0 || (byScore == 0 && id.compareTo(ids.get(other)) < 0);
  }

  void describe(OperationSpan span) {
    if (!ids.isEmpty()) {
      span.set(EppAttributes.PICKER_TOP_ENDPOINTS, ids)
          .set(EppAttributes.PICKER_TOP_SCORES, scores);
    }
  }
}
