import java.util.ArrayList;
import java.util.List;

/** The measurements of one subject's rounds, in microseconds per request. */
record Figures(List<Double> cpu, List<Double> p50, List<Double> p99) {
  Figures() {
    this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
  }

  void add(double cpuMicros, Load.Result result) {
    cpu.add(cpuMicros);
    p50.add((double) result.p50());
    p99.add((double) result.p99());
  }

  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  static double least(List<Double> values) {
    return values.stream().min(Double::compare).orElseThrow();
  }

  static double most(List<Double> values) {
    return values.stream().max(Double::compare).orElseThrow();
  }
}
