package io.inferspan.samples.ebpf.cost;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Measures the CPU time that probes at entry and return add to a call of a library function. Two
 * minimal BPF programs show how low the cost can be: one is empty, the other writes a record to the
 * ring without reading a request's context.
 */
final class CallCost {

  private static final String FUNCTION = "cuLaunchKernel";
  private static final String LAUNCH = "cuda.launch";
  private static final String NOTHING = "empty programs at entry and return";
  private static final String RECORD = "a record without a context";
  private static final String BPFTRACE = "bpftrace";
  private static final String UNTRACED = "the bridge, untraced";
  private static final String TRACED = "the bridge, traced";
  private static final double BAR_TO_BPFTRACE = 0.8;

  private final Kit kit;
  private final double seconds;
  private final Map<String, Samples> nanos = new LinkedHashMap<>();
  private final Samples ratio = new Samples();

  CallCost(Kit kit, double seconds) {
    this.kit = kit;
    this.seconds = seconds;
  }

  void measure(int rounds, Report report) {
    Process keeper = kit.keeper();
    try {
      round(); // warm-up
      nanos.clear();
      for (int i = 0; i < rounds; i++) {
        Map<String, Double> round = round();
        ratio.add(figure(round, TRACED) / figure(round, BPFTRACE));
      }
    } finally {
      Kit.end(keeper);
    }
    report.say("%nns of CPU added per call         median        min        max");
    nanos.forEach((name, samples) -> report.say("%-30s %s", name, samples));
    report.say("%-30s %s", "the bridge / bpftrace", ratio);
    report.atMost("traced call, cost relative to bpftrace", ratio.median(), BAR_TO_BPFTRACE);
  }

  private static double figure(Map<String, Double> round, String name) {
    return Objects.requireNonNull(round.get(name), name);
  }

  private Map<String, Double> round() {
    Map<String, Double> added = new LinkedHashMap<>();
    double base = kit.launch(seconds, true).nanosPerCall();
    add(added, NOTHING, base, () -> Floor.attach(kit, "nothing", FUNCTION));
    add(added, RECORD, base, () -> Floor.attach(kit, "record", FUNCTION));
    add(added, BPFTRACE, base, () -> Bpftrace.timing(kit.library(), FUNCTION));
    try (Bridge bridge = Bridge.attach("libcuda.so.1", "load")) {
      note(added, UNTRACED, kit.launch(seconds, false).nanosPerCall() - base);
      bridge.requireProduced(LAUNCH, 0);
      Kit.Load traced = kit.launch(seconds, true);
      note(added, TRACED, traced.nanosPerCall() - base);
      bridge.requireProduced(LAUNCH, traced.calls());
    }
    return added;
  }

  private void add(Map<String, Double> added, String name, double base, Subject subject) {
    try (Subject.Watching watching = subject.attach()) {
      note(added, name, kit.launch(seconds, true).nanosPerCall() - base);
    }
  }

  private void note(Map<String, Double> added, String name, double more) {
    added.put(name, more);
    nanos.computeIfAbsent(name, any -> new Samples()).add(more);
  }
}
