package io.inferspan.samples.ebpf.cost;

import java.util.Arrays;
import java.util.Locale;

/** The values of one figure, one per round. */
final class Samples {

  private double[] all = new double[0];

  void add(double figure) {
    all = Arrays.copyOf(all, all.length + 1);
    all[all.length - 1] = figure;
  }

  double median() {
    return quantile(0.5);
  }

  /** Returns a quantile, interpolated between two values. */
  private double quantile(double share) {
    double[] sorted = sorted();
    double position = share * (sorted.length - 1);
    int below = (int) position;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  }

  /** Formats the median and the range of the middle half. */
  String middle() {
    return String.format(
        Locale.ROOT, "%10.4g %10.4g %10.4g", median(), quantile(0.25), quantile(0.75));
  }

  double least() {
    return sorted()[0];
  }

  double most() {
    return sorted()[all.length - 1];
  }

  private double[] sorted() {
    double[] sorted = all.clone();
    Arrays.sort(sorted);
    return sorted;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%10.4g %10.4g %10.4g", median(), least(), most());
  }
}
