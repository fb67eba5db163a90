package io.inferspan.samples.ebpf.cost;

import java.util.Arrays;
import java.util.Locale;

/** Figures of one thing, a round each. */
final class Samples {

  private double[] all = new double[0];

  void add(double figure) {
    all = Arrays.copyOf(all, all.length + 1);
    all[all.length - 1] = figure;
  }

  double median() {
    return quantile(0.5);
  }

  /** Below it lies this share of the figures; between two, in proportion. */
  private double quantile(double share) {
    double[] sorted = sorted();
    double place = share * (sorted.length - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /** The median, and where the middle half of the figures lies. */
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
