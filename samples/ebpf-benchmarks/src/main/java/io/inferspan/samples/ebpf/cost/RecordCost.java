package io.inferspan.samples.ebpf.cost;

import com.sun.management.OperatingSystemMXBean;
import io.inferspan.ebpf.stacks.StackRecorder;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import io.inferspan.ebpf.stacks.StackScope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * CPU time that stacks of {@code record}, at its default rate, and those of perf add to a process.
 */
final class RecordCost {

  private static final int HERTZ = 99;
  private static final long LOOK_EVERY_MILLIS = 250;
  private static final double BAR_PERCENT = 2;
  private static final double PERCENT = 100;

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final Kit kit;
  private final double seconds;
  private final Samples record = new Samples();
  private final Samples perf = new Samples();
  private final Samples recordOwn = new Samples();
  private final Samples perfOwn = new Samples();

  RecordCost(Kit kit, double seconds) {
    this.kit = kit;
    this.seconds = seconds;
  }

  /** A process that computes. */
  private static final class Spin implements AutoCloseable {

    private final Process process;
    private final BufferedReader said;
    private final Writer told;

    Spin(Process process) {
      this.process = process;
      this.said = process.inputReader();
      this.told = process.outputWriter();
    }

    private long steps() {
      try {
        told.write("\n");
        told.flush();
        return Long.parseLong(said.readLine());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** CPU time per step while something runs. */
    double nanosPerStep(Runnable meanwhile) {
      long steps = steps();
      long nanos = Kit.cpuNanos(process.pid());
      meanwhile.run();
      nanos = Kit.cpuNanos(process.pid()) - nanos;
      return (double) nanos / (steps() - steps);
    }

    @Override
    public void close() {
      Kit.end(process);
    }
  }

  void measure(int rounds, Report report) {
    try (Spin spin = new Spin(kit.spin())) {
      Waiting.millis(1000);
      for (int round = 0; round < rounds; round++) {
        // In both orders, so that a machine that becomes slower favours none.
        double before = spin.nanosPerStep(this::pause);
        double first = round % 2 == 0 ? recorded(spin) : sampledByPerf(spin);
        double second = round % 2 == 0 ? sampledByPerf(spin) : recorded(spin);
        double base = (before + spin.nanosPerStep(this::pause)) / 2;
        (round % 2 == 0 ? record : perf).add(PERCENT * (first / base - 1));
        (round % 2 == 0 ? perf : record).add(PERCENT * (second / base - 1));
      }
    }
    report.say("%n%% of CPU time added to a process  median      lower      upper");
    report.say("%-32s %s", "record", record.middle());
    report.say("%-32s %s", "perf record -g", perf.middle());
    report.say("%% of a CPU that it takes itself");
    report.say("%-32s %s", "record", recordOwn.middle());
    report.say("%-32s %s", "perf record -g", perfOwn.middle());
    report.atMost("overhead of record for a process, %", record.median(), BAR_PERCENT);
  }

  private void pause() {
    Waiting.millis((long) (seconds * 1000));
  }

  /** Of all processes, as is the default. */
  private double recorded(Spin spin) {
    try (StackRecorder recorder =
        StackRecorder.start(StackScope.of(List.of()), Kind.ON_CPU, HERTZ)) {
      recorder.look();
      return spin.nanosPerStep(
          () -> {
            long cpu = system.getProcessCpuTime();
            long end = System.nanoTime() + (long) (seconds * 1e9);
            while (System.nanoTime() < end) {
              Waiting.millis(LOOK_EVERY_MILLIS);
              recorder.look();
            }
            recordOwn.add(PERCENT * (system.getProcessCpuTime() - cpu) / (seconds * 1e9));
          });
    }
  }

  private double sampledByPerf(Spin spin) {
    try {
      Path data = Files.createTempFile("perf", ".data");
      Process process =
          new ProcessBuilder("perf", "record", "-q", "-a", "-g", "-F", "" + HERTZ, "-o", "" + data)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        Waiting.until("perf", () -> data.toFile().length() > 0);
        Waiting.millis(LOOK_EVERY_MILLIS);
        return spin.nanosPerStep(
            () -> {
              long cpu = Kit.cpuNanos(process.pid());
              pause();
              perfOwn.add(PERCENT * (Kit.cpuNanos(process.pid()) - cpu) / (seconds * 1e9));
            });
      } finally {
        process.destroy();
        Kit.end(process);
        Files.delete(data);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
