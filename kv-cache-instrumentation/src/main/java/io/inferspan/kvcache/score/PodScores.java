package io.inferspan.kvcache.score;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Scores of the pods that hold the start of a prompt: a higher score means more blocks, or blocks
 * in tiers with a higher weight.
 *
 * <p>A pod that does not hold the first block has no score. The order of the pods has no meaning.
 */
public final class PodScores {

  static final PodScores NONE = new PodScores(new String[0], new double[0], 0);

  private final String[] pods;
  private final double[] scores;
  private final int size;

  /** Takes ownership of the arrays. */
  PodScores(String[] pods, double[] scores, int size) {
    this.pods = pods;
    this.scores = scores;
    this.size = size;
  }

  /** Returns the number of pods with a score. */
  public int size() {
    return size;
  }

  /** Returns the pod at {@code position}, from 0. */
  public String pod(int position) {
    return pods[checked(position)];
  }

  /** Returns the score of the pod at {@code position}, from 0. */
  public double score(int position) {
    return scores[checked(position)];
  }

  /** Returns the score of a pod; 0 if it has none. */
  public double of(String pod) {
    for (int i = 0; i < size; i++) {
      if (pods[i].equals(pod)) {
        return scores[i];
      }
    }
    return 0;
  }

  /** Returns the highest score; 0 if there is none. */
  public double max() {
    double max = 0;
    for (int i = 0; i < size; i++) {
      max = Math.max(max, scores[i]);
    }
    return max;
  }

  /** Returns the average of the scores; 0 if there is none. */
  public double average() {
    double sum = 0;
    for (int i = 0; i < size; i++) {
      sum += scores[i];
    }
    return size == 0 ? 0 : sum / size;
  }

  /** Returns the scores by pod. */
  public Map<String, Double> asMap() {
    Map<String, Double> map = new LinkedHashMap<>();
    for (int i = 0; i < size; i++) {
      map.put(pods[i], scores[i]);
    }
    return Collections.unmodifiableMap(map);
  }

  /** Checks the position, because the arrays may be longer than the number of scores. */
  private int checked(int position) {
    return Objects.checkIndex(position, size);
  }
}
