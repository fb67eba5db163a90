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
    double[] sorted = sorted();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
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
