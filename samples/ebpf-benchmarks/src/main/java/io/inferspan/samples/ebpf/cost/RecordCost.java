package io.inferspan.samples.ebpf.cost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Measures the CPU time of recording stacks of all processes at the default rate, with {@code
 * record} and with perf: the time added to a process, and the recorder's own time.
 */
final class RecordCost {

  private static final int HERTZ = 99;
  private static final int SETTLING_SECONDS = 2;
  private static final double TICKS_PER_SECOND = 100;
  private static final int WAITED_USER_FIELD = 16;
  private static final double BAR_PERCENT = 2;
  private static final double PERCENT = 100;

  private final Kit kit;
  private final double seconds;
  private final Tool record = new Tool("record");
  private final Tool perf = new Tool("perf record -g");

  /**
   * The cost of a recorder, one value per round.
   *
   * @param added the CPU time added to a process, in percent
   * @param own the recorder's own CPU time while it records, in percent of a CPU
   * @param startStop the CPU seconds to start and stop the recorder
   */
  private record Tool(String name, Samples added, Samples own, Samples startStop) {

    Tool(String name) {
      this(name, new Samples(), new Samples(), new Samples());
    }
  }

  RecordCost(Kit kit, double seconds) {
    this.kit = kit;
    this.seconds = seconds;
  }

  /** A compute-bound process. */
  private static final class Spin implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;
    private final Writer input;

    Spin(Process process) {
      this.process = process;
      this.output = process.inputReader();
      this.input = process.outputWriter();
    }

    private long steps() {
      try {
        input.write("\n");
        input.flush();
        return Long.parseLong(output.readLine());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Returns the CPU time per step while another activity runs. */
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
        // The order alternates, so that a change of the machine's speed favours neither tool.
        Tool first = round % 2 == 0 ? record : perf;
        Tool second = round % 2 == 0 ? perf : record;
        double before = spin.nanosPerStep(this::pause);
        double withFirst = recorded(spin, first);
        double withSecond = recorded(spin, second);
        double base = (before + spin.nanosPerStep(this::pause)) / 2;
        first.added().add(PERCENT * (withFirst / base - 1));
        second.added().add(PERCENT * (withSecond / base - 1));
      }
    }
    say(report, "%n%% of CPU time added to a process", Tool::added);
    say(report, "%% of a CPU used by the recorder itself", Tool::own);
    say(report, "CPU seconds to start and stop the recorder", Tool::startStop);
    report.atMost(
        "overhead of recording: process and recorder, %",
        record.added().median() + record.own().median(), BAR_PERCENT);
  }

  private void say(Report report, String what, Function<Tool, Samples> samples) {
    report.say(what + "  (median, lower and upper quartile)");
    Stream.of(record, perf)
        .forEach(tool -> report.say("%-32s %s", tool.name(), samples.apply(tool).middle()));
  }

  private void pause() {
    Waiting.millis((long) (seconds * 1000));
  }

  private double recorded(Spin spin, Tool tool) {
    try {
      Path out = Files.createTempFile("record", ".folded");
      double before = waitedSeconds();
      Process process =
          new ProcessBuilder(tool.equals(record) ? record(out) : perf(out))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      Waiting.until(tool.name() + " to start recording", () -> isRecording(process.pid()));
      Waiting.millis(SETTLING_SECONDS * 1000);
      double[] used = new double[1];
      double nanosPerStep =
          spin.nanosPerStep(
              () -> {
                long cpu = Kit.cpuNanos(process.pid());
                pause();
                used[0] = (Kit.cpuNanos(process.pid()) - cpu) / 1e9;
              });
      if (tool.equals(perf)) {
        process.destroy();
      }
      while (process.isAlive()) { // resolving many stacks on a busy core takes a while
        Waiting.millis(20);
      }
      tool.own().add(PERCENT * used[0] / seconds);
      tool.startStop().add(waitedSeconds() - before - used[0]);
      Files.delete(out);
      return nanosPerStep;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the command that runs the tool in its own JVM, as users do. */
  private List<String> record(Path out) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin/java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        "io.inferspan.ebpf.cli.EbpfTool",
        "record",
        "--seconds",
        Integer.toString(2 * SETTLING_SECONDS + (int) Math.ceil(seconds)),
        "--out",
        out.toString());
  }

  private static List<String> perf(Path out) {
    return List.of(
        "perf", "record", "-q", "-a", "-g", "-F", Integer.toString(HERTZ), "-o", out.toString());
  }

  private static boolean isRecording(long pid) {
    try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      return files.anyMatch(RecordCost::isTimer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isTimer(Path file) {
    try {
      return Files.readSymbolicLink(file)
          .toString()
          .matches("anon_inode:.*(perf_event|bpf_link).*");
    } catch (IOException closed) {
      return false;
    }
  }

  /** Returns the CPU time of this process's children that have ended. */
  private static double waitedSeconds() throws IOException {
    String line = Files.readString(Path.of("/proc/self/stat"));
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
    int user = WAITED_USER_FIELD - 3;
    return (Long.parseLong(fields[user]) + Long.parseLong(fields[user + 1])) / TICKS_PER_SECOND;
  }
}
