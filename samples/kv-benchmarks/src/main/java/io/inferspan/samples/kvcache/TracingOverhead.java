package io.inferspan.samples.kvcache;

import io.inferspan.samples.kvcache.LookupTurns.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Measures the cost of tracing lookups of 200 blocks in an in-memory index; each lookup has one
 * span.
 *
 * <p>Some JVM processes compile the same code better than others, so the figures are medians of
 * several processes. In each process, all callers share one compiled copy of the lookup, because
 * inlined copies differ by more than the effect to be measured.
 */
final class TracingOverhead {

  private static final int PROCESSES = 5;
  private static final String DO_NOT_INLINE_LOOKUP =
      "-XX:CompileCommand=dontinline,io.inferspan.kvcache.index.MemoryBlockIndex::lookup";

  private static final Map<Kind, String> LABELS =
      Map.of(
          Kind.WITHOUT, "without tracing",
          Kind.AGAIN, "without tracing, again",
          Kind.UNSAMPLED, "unsampled",
          Kind.SAMPLED, "sampled",
          Kind.BY_HAND, "sampled, by hand with OpenTelemetry's SDK");

  private final Map<Kind, double[]> nanos = new EnumMap<>(Kind.class);
  private final Map<Kind, double[]> ratios = new EnumMap<>(Kind.class);

  private TracingOverhead() {
    for (Kind kind : Kind.values()) {
      nanos.put(kind, new double[PROCESSES]);
      ratios.put(kind, new double[PROCESSES]);
    }
  }

  static TracingOverhead measure() {
    TracingOverhead overhead = new TracingOverhead();
    try {
      for (int process = 0; process < PROCESSES; process++) {
        System.err.printf(
            "measuring the cost of spans: process %d of %d%n", process + 1, PROCESSES);
        overhead.measure(process);
      }
    } catch (IOException e) {
      throw new IllegalStateException("Cannot run a process for the measurement", e);
    }
    return overhead;
  }

  private void measure(int process) throws IOException {
    Process turns =
        new ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader lines = turns.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] figures = line.split(" ", -1);
        Kind kind = Kind.valueOf(figures[0]);
        nanos(kind)[process] = Double.parseDouble(figures[1]);
        ratios(kind)[process] = Double.parseDouble(figures[2]);
      }
    }
    if (ratios(Kind.BY_HAND)[process] == 0) {
      throw new IllegalStateException("A process for the measurement ended without results");
    }
  }

  private static List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("-XX:CompileCommand=quiet");
    command.add(DO_NOT_INLINE_LOOKUP);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(LookupTurns.class.getName());
    return command;
  }

  private double[] nanos(Kind kind) {
    return Objects.requireNonNull(nanos.get(kind));
  }

  private double[] ratios(Kind kind) {
    return Objects.requireNonNull(ratios.get(kind));
  }

  /** Returns the time of a lookup of this kind, relative to a lookup without tracing. */
  double ratio(Kind kind) {
    return LookupTurns.median(ratios(kind));
  }

  /**
   * Prints the duration of each kind, the cost of its span, and the variation between processes.
   */
  void print() {
    double without = LookupTurns.median(nanos(Kind.WITHOUT));
    System.out.printf(Locale.ROOT, "%na lookup of 200 blocks, with one span%n");
    for (Kind kind : Kind.values()) {
      double each = LookupTurns.median(nanos(kind));
      double[] sorted = ratios(kind).clone();
      Arrays.sort(sorted);
      System.out.printf(
          Locale.ROOT,
          "%-56s %7.0f ns %+7.0f ns %6.3f x (%.3f - %.3f)%n",
          LABELS.get(kind),
          each,
          each - without,
          ratio(kind),
          sorted[0],
          sorted[PROCESSES - 1]);
    }
  }
}
