package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.stacks.StackRecorder;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import io.inferspan.ebpf.stacks.StackScope;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Count stacks for a while and write them.
 *
 * @param unit what the numbers count
 * @param out where to: a page, or folded text
 */
record RecordOrder(StackScope scope, Kind kind, Unit unit, Duration time, int frequency, Path out)
    implements Invocation {

  static final String OPTIONS =
      "--pid, --seconds, --frequency, --off-cpu, --cuda, --device, --unit, --by-trace, --trace, --out";

  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final int LONGEST_SECONDS = 86_400;
  private static final int MOST_NOTES = 10;
  private static final int MOST_HERTZ = 10_000;

  /** Close to 100, so that it does not beat with what the kernel does by its own clock. */
  private static final int DEFAULT_HERTZ = 99;

  static Invocation parse(Arguments rest) throws UsageException {
    List<Integer> pids = List.of();
    Kind kind = Kind.ON_CPU;
    @Nullable Unit unit = null;
    boolean byTrace = false;
    @Nullable String trace = null;
    int seconds = 10;
    int frequency = DEFAULT_HERTZ;
    String out = "flame.html";
    while (rest.hasNext()) {
      String option = rest.next();
      switch (option) {
        case "--pid" -> pids = pids(rest.valueOf(option));
        case "--seconds" -> seconds = rest.number(option, LONGEST_SECONDS);
        case "--frequency" -> frequency = rest.number(option, MOST_HERTZ);
        case "--off-cpu" -> kind = Kind.OFF_CPU;
        case "--cuda" -> kind = Kind.CUDA;
        case "--device" -> kind = Kind.DEVICE;
        case "--unit" -> unit = StackOrder.unit(rest.valueOf(option));
        case "--by-trace" -> byTrace = true;
        case "--trace" -> trace = StackOrder.traceId(rest.valueOf(option));
        case "--out" -> out = rest.valueOf(option);
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> throw rest.unknown("record", option, OPTIONS);
      }
    }
    if (!out.matches(".*\\.(html|folded|txt)")) {
      throw new UsageException("--out " + out + ": must end with .html, .folded or .txt");
    }
    if ((kind == Kind.CUDA || kind == Kind.DEVICE) && pids.isEmpty()) {
      throw new UsageException("--cuda and --device need processes, as in --pid 4711");
    }
    StackScope scope = new StackScope(pids, byTrace, trace);
    Unit counted = unit(kind, unit);
    return new RecordOrder(
        scope, kind, counted, Duration.ofSeconds(seconds), frequency, Path.of(out));
  }

  private static Unit unit(Kind kind, @Nullable Unit chosen) throws UsageException {
    if (chosen != null && !kind.units().contains(chosen)) {
      String able = kind.units().stream().map(Unit::word).collect(Collectors.joining(" or "));
      throw new UsageException("--unit " + chosen.word() + ": must be " + able + " here");
    }
    return chosen == null ? kind.units().getFirst() : chosen;
  }

  private static List<Integer> pids(String list) throws UsageException {
    new Targets.Builder().pids(list);
    return Stream.of(list.split(",", -1)).map(String::strip).map(Integer::valueOf).toList();
  }

  /** Returns the exit status. */
  int run(PrintStream out, PrintStream err) throws InterruptedException {
    try (StackRecorder recorder = StackRecorder.start(scope, kind, frequency)) {
      long end = System.nanoTime() + time.toNanos();
      while (System.nanoTime() < end) {
        Thread.sleep(LOOK_EVERY);
        recorder.look();
      }
      StackCounts counts = recorder.counts(unit);
      write(counts);
      out.println("wrote " + this.out + ": " + summary(counts, recorder));
      recorder.missingNames().stream().limit(MOST_NOTES).forEach(err::println);
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(this.out + ": " + failed.getMessage());
      return EbpfTool.FAILED;
    }
  }

  private String summary(StackCounts counts, StackRecorder recorder) {
    return "%d %s%s in %d stacks, %d lost%s%s"
        .formatted(
            counts.total(),
            counts.unit().word(),
            counts.unit() == Unit.NANOS && kind == Kind.CUDA ? " of the host's time" : "",
            counts.sorted().size(),
            recorder.lost(),
            ifAny(recorder.unnamed(), ", %d with frames that have no name"),
            ifAny(recorder.unattributed(), ", %d kernels or samples of no known launch"));
  }

  private static String ifAny(long count, String text) {
    return count == 0 ? "" : text.formatted(count);
  }

  private void write(StackCounts counts) throws IOException {
    try (Writer text = Files.newBufferedWriter(out)) {
      if (out.toString().endsWith(".html")) {
        text.write(FlameHtml.of(counts, title()));
      } else {
        FoldedText.write(counts, text);
      }
    }
  }

  private String title() {
    String what =
        switch (kind) {
          case ON_CPU -> "On CPU";
          case OFF_CPU -> "Off CPU";
          case CUDA -> unit == Unit.NANOS ? "CUDA calls, the host's time" : "CUDA calls";
          case DEVICE -> unit == Unit.SAMPLES ? "GPU stalls" : "GPU kernels, the device's time";
        };
    return scope.traceId() == null ? what : what + ", trace " + scope.traceId();
  }
}
