package io.inferspan.epp;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A score for each endpoint of a list, by position.
 *
 * <p>For an endpoint without a score, {@link #at} returns 0 and {@link #isScored} false.
 */
public final class Scores {

  private final CompletableFuture<Scores> done = CompletableFuture.completedFuture(this);
  private final double[] values;
  private int rawScores;
  private double rawMax = Double.NEGATIVE_INFINITY;
  private double rawSum;

  private Scores(int endpoints) {
    values = new double[endpoints];
    Arrays.fill(values, Double.NaN);
  }

  /** Creates an empty buffer for this many endpoints. */
  public static Scores of(int endpoints) {
    return new Scores(endpoints);
  }

  /** Records, for the span, a value that an endpoint's score is computed from. */
  public void raw(double value) {
    rawScores++;
    rawMax = Math.max(rawMax, value);
    rawSum += value;
  }

  /** Returns whether {@link #raw} values are known. */
  public boolean hasRaw() {
    return rawScores > 0;
  }

  /** Returns the highest raw value. */
  public double rawMax() {
    return rawMax;
  }

  /** Returns the mean of the raw values. */
  public double rawAverage() {
    return rawSum / rawScores;
  }

  /** Sets the score of the endpoint at {@code position}; NaN means no score. */
  public void set(int position, double score) {
    values[position] = score;
  }

  /** Adds other scores, each limited to 0 to 1 and multiplied by a weight. */
  public void add(Scores others, double weight) {
    for (int i = 0; i < values.length; i++) {
      values[i] = at(i) + Math.min(1, Math.max(0, others.at(i))) * weight;
    }
  }

  /** Returns the number of endpoints. */
  public int size() {
    return values.length;
  }

  /** Returns the score of the endpoint at {@code position}; 0 if it has none. */
  public double at(int position) {
    return isScored(position) ? values[position] : 0;
  }

  /** Returns whether the endpoint at {@code position} has a score. */
  public boolean isScored(int position) {
    return !Double.isNaN(values[position]);
  }

  /** Returns the number of endpoints that have a score. */
  public int scored() {
    int count = 0;
    for (int i = 0; i < values.length; i++) {
      if (isScored(i)) {
        count++;
      }
    }
    return count;
  }

  /** Returns the best score; 0 if there is none. */
  public double max() {
    double best = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < values.length; i++) {
      if (isScored(i)) {
        best = Math.max(best, values[i]);
      }
    }
    return best == Double.NEGATIVE_INFINITY ? 0 : best;
  }

  /** Returns the mean of the scores; 0 if there are none. */
  public double average() {
    double sum = 0;
    for (int i = 0; i < values.length; i++) {
      sum += at(i);
    }
    return sum / Math.max(1, scored());
  }

  /** Returns these scores as a completed stage. */
  public CompletionStage<Scores> done() {
    return done;
  }
}
