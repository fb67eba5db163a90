package io.inferspan.kvcache.score;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * How much of a prompt each pod holds: the higher, the more.
 *
 * <p>A pod that does not hold the first block is not in it. The order of the pods means nothing.
 */
public final class PodScores {

  static final PodScores NONE = new PodScores(new String[0], new double[0], 0);

  private final String[] pods;
  private final double[] scores;
  private final int size;

  /** Takes the arrays over. */
  PodScores(String[] pods, double[] scores, int size) {
    this.pods = pods;
    this.scores = scores;
    this.size = size;
  }

  /** How many pods have a score. */
  public int size() {
    return size;
  }

  /** The pod at {@code position}, from 0. */
  public String pod(int position) {
    return pods[checked(position)];
  }

  /** The score of the pod at {@code position}, from 0. */
  public double score(int position) {
    return scores[checked(position)];
  }

  /** The score of a pod; 0 where it has none. */
  public double of(String pod) {
    for (int i = 0; i < size; i++) {
      if (pods[i].equals(pod)) {
        return scores[i];
      }
    }
    return 0;
  }

  /** The highest score; 0 where there is none. */
  public double max() {
    double max = 0;
    for (int i = 0; i < size; i++) {
      max = Math.max(max, scores[i]);
    }
    return max;
  }

  /** The average of the pods that have a score; 0 where none has. */
  public double average() {
    double sum = 0;
    for (int i = 0; i < size; i++) {
      sum += scores[i];
    }
    return size == 0 ? 0 : sum / size;
  }

  /** The scores by pod. */
  public Map<String, Double> asMap() {
    Map<String, Double> map = new LinkedHashMap<>();
    for (int i = 0; i < size; i++) {
      map.put(pods[i], scores[i]);
    }
    return Collections.unmodifiableMap(map);
  }

  /** The arrays may be longer than what they hold. */
  private int checked(int position) {
    return Objects.checkIndex(position, size);
  }
}
