package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.stacks.StackRecorder;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import io.inferspan.ebpf.stacks.StackScope;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Records stacks for a given time and writes them as a flame graph or as folded text. */
@Command(
    name = "record",
    description = "Samples the stacks of running threads and writes a flame graph.")
final class RecordCommand extends ToolCommand {

  private static final Duration POLL_INTERVAL = Duration.ofMillis(250);
  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_NOTES = 10;
  private static final int MAX_HERTZ = 10_000;

  @Option(names = "--pid", split = ",", paramLabel = "N", description = "Only these processes.")
  private List<Integer> pids = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "The duration of the recording (10).")
  private int seconds = 10;

  /** Close to 100, but not synchronous with the kernel's own timers. */
  @Option(
      names = "--frequency",
      paramLabel = "N",
      description = "Samples per second on each CPU (99).")
  private int frequency = 99;

  @ArgGroup private Choice choice = new Choice();

  @Option(
      names = "--unit",
      paramLabel = "UNIT",
      converter = UnitConverter.class,
      description =
          "The unit of the values. With --off-cpu: ns (or calls). With --cuda: calls"
              + " (or ns, bytes). With --device: ns (or calls, samples of stalled"
              + " instructions).")
  private @Nullable Unit unit;

  @Option(
      names = "--trace",
      paramLabel = "ID",
      description = "Only the request of this trace. Needs a running agent or bridge.")
  private @Nullable String trace;

  @Option(
      names = "--by-trace",
      description = "All stacks, grouped by trace. Needs a running agent or bridge.")
  private boolean byTrace;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The output: a page (flame.html), or folded text for .folded or .txt.")
  private Path out = Path.of("flame.html");

  /** Selects the kind of stacks; by default those of running threads. */
  private static final class Choice {
    @Option(names = "--off-cpu", description = "Record the stacks of waits, and their duration.")
    private boolean offCpu;

    @Option(
        names = "--cuda",
        description =
            "Record the stacks of CUDA launches, copies and synchronisations. Needs --pid.")
    private boolean cuda;

    @Option(
        names = "--device",
        description =
            "Record the stacks of kernel launches, and the device time that parcagpu's"
                + " library in the process reports. Needs --pid.")
    private boolean device;

    Kind kind() {
      if (offCpu) {
        return Kind.OFF_CPU;
      }
      if (cuda) {
        return Kind.CUDA;
      }
      return device ? Kind.DEVICE : Kind.ON_CPU;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Kind kind = choice.kind();
    requireWithin("--seconds", seconds, 1, MAX_SECONDS);
    requireWithin("--frequency", frequency, 1, MAX_HERTZ);
    requireEnding(out.toString(), ".html", ".folded", ".txt");
    requireProcesses(pids);
    requireTraceId(trace);
    if ((kind == Kind.CUDA || kind == Kind.DEVICE) && pids.isEmpty()) {
      throw wrong("--cuda and --device need --pid");
    }
    Unit counted = unit(kind);
    StackScope scope = new StackScope(pids, byTrace, trace);
    try (StackRecorder recorder = StackRecorder.start(scope, kind, frequency)) {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      while (System.nanoTime() < end) {
        Thread.sleep(POLL_INTERVAL);
        recorder.look();
      }
      StackCounts counts = recorder.counts(counted);
      write(counts, title(kind, counted));
      tool().out.println("wrote " + out + ": " + summary(kind, counts, recorder));
      recorder.missingNames().stream().limit(MAX_NOTES).forEach(tool().err::println);
      return EbpfTool.DONE;
    }
  }

  private Unit unit(Kind kind) {
    if (unit != null && !kind.units().contains(unit)) {
      String allowed = kind.units().stream().map(Unit::word).collect(Collectors.joining(" or "));
      throw wrong("--unit " + unit.word() + ": must be " + allowed + " for these stacks");
    }
    return unit == null ? kind.units().getFirst() : unit;
  }

  private static String summary(Kind kind, StackCounts counts, StackRecorder recorder) {
    return "%d %s%s in %d stacks, %d lost%s%s"
        .formatted(
            counts.total(),
            counts.unit().word(),
            counts.unit() == Unit.NANOS && kind == Kind.CUDA ? " of host time" : "",
            counts.sorted().size(),
            recorder.lost(),
            ifAny(recorder.unnamed(), ", %d with unnamed frames"),
            ifAny(recorder.unattributed(), ", %d kernels or samples without a known launch"));
  }

  private static String ifAny(long count, String text) {
    return count == 0 ? "" : text.formatted(count);
  }

  private void write(StackCounts counts, String title) throws IOException {
    try (Writer text = Files.newBufferedWriter(out)) {
      if (out.toString().endsWith(".html")) {
        text.write(FlameHtml.of(counts, title));
      } else {
        FoldedText.write(counts, text);
      }
    }
  }

  private String title(Kind kind, Unit counted) {
    String what =
        switch (kind) {
          case ON_CPU -> "On CPU";
          case OFF_CPU -> "Off CPU";
          case CUDA -> counted == Unit.NANOS ? "CUDA calls, host time" : "CUDA calls";
          case DEVICE -> counted == Unit.SAMPLES ? "GPU stalls" : "GPU kernels, device time";
        };
    return trace == null ? what : what + ", trace " + trace;
  }
}
