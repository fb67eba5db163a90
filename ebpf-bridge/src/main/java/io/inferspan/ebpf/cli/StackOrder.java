package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.PerfettoJson;
import io.inferspan.ebpf.flame.SlowRequests;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.imports.StackFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Make a flame graph of files, or of what differs between two.
 *
 * @param out where to; what is written is what its name ends with
 * @param unit what the numbers count; null where the files say it
 * @param slowest what to divide one file by; null where there are two, or no difference
 */
record StackOrder(
    List<Path> inputs,
    boolean difference,
    Path out,
    @Nullable String title,
    @Nullable Unit unit,
    @Nullable String traceId,
    @Nullable Slowest slowest)
    implements Invocation {

  static final String OPTIONS = "--out, --title, --unit, --trace; of diff: --slowest, --durations";

  /**
   * Compares the slowest requests of a file with its others.
   *
   * @param durations how long requests took; null to go by their stacks
   */
  record Slowest(double percent, @Nullable Path durations) {

    static @Nullable Slowest of(@Nullable String percent, @Nullable String durations)
        throws UsageException {
      if (percent == null) {
        if (durations != null) {
          throw new UsageException("--durations " + durations + ": only with --slowest");
        }
        return null;
      }
      if (!percent.matches("[0-9]{1,2}(\\.[0-9]{1,3})?%") || percent.matches("[0.]+%")) {
        throw new UsageException("--slowest " + percent + ": must be from 0.001% to 99.999%");
      }
      double share = Double.parseDouble(percent.substring(0, percent.length() - 1));
      return new Slowest(share, durations == null ? null : Path.of(durations));
    }

    SlowRequests divide(StackCounts counts) throws IOException {
      if (durations == null) {
        return SlowRequests.of(counts, percent, null);
      }
      try (BufferedReader text = Files.newBufferedReader(durations)) {
        return SlowRequests.of(counts, percent, SlowRequests.millis(text));
      } catch (StackFormatException wrong) {
        throw new IOException(durations + ": " + wrong.getMessage(), wrong);
      } catch (NoSuchFileException absent) {
        throw new IOException(durations + ": there is no such file", absent);
      }
    }
  }

  static Invocation parse(String command, Arguments rest) throws UsageException {
    List<Path> inputs = new ArrayList<>();
    @Nullable String out = null;
    @Nullable String title = null;
    @Nullable String unit = null;
    @Nullable String trace = null;
    @Nullable String slowest = null;
    @Nullable String durations = null;
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "--out" -> out = rest.valueOf(word);
        case "--title" -> title = rest.valueOf(word);
        case "--unit" -> unit = rest.valueOf(word);
        case "--trace" -> trace = traceId(rest.valueOf(word));
        case "--slowest" -> slowest = rest.valueOf(word);
        case "--durations" -> durations = rest.valueOf(word);
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> inputs.add(input(command, word, rest));
      }
    }
    boolean difference = command.equals("diff");
    Slowest divided = Slowest.of(slowest, durations);
    check(command, inputs.size(), divided != null);
    if (divided != null && trace != null) {
      throw new UsageException("--slowest compares requests, and --trace takes one: give one");
    }
    Path file = out(out, difference);
    return new StackOrder(inputs, difference, file, title, unit(unit), trace, divided);
  }

  private static void check(String command, int files, boolean divided) throws UsageException {
    boolean difference = command.equals("diff");
    if (divided && (!difference || files != 1)) {
      throw new UsageException("--slowest is for diff with one file, of record --by-trace");
    }
    if (files == 0 || (difference && !divided && files != 2)) {
      throw new UsageException(
          command + " needs " + (difference ? "two files, before and after" : "a file of stacks"));
    }
  }

  private static Path input(String command, String word, Arguments rest) throws UsageException {
    if (word.startsWith("-")) {
      throw rest.unknown(command, word, OPTIONS);
    }
    return Path.of(word);
  }

  private static Path out(@Nullable String name, boolean difference) throws UsageException {
    String out = name == null ? "flame.html" : name;
    if (!out.matches(".*\\.(html|folded|txt|json)")) {
      throw new UsageException("--out " + out + ": must end with .html, .folded, .txt or .json");
    }
    if (difference && !out.endsWith(".html")) {
      throw new UsageException("--out " + out + ": a difference is a page: must end with .html");
    }
    return Path.of(out);
  }

  static @Nullable Unit unit(@Nullable String word) throws UsageException {
    Unit unit = word == null ? null : Unit.of(word);
    if (word != null && unit == null) {
      throw new UsageException("--unit " + word + ": must be samples, calls, ns, us or bytes");
    }
    return unit;
  }

  static String traceId(String value) throws UsageException {
    if (!value.matches("[0-9a-f]{32}")) {
      throw new UsageException("--trace " + value + ": must be 32 hexadecimal digits");
    }
    return value;
  }

  /** Returns the exit status. */
  int run(PrintStream out, PrintStream err) {
    try {
      write(out);
      out.println("wrote " + this.out);
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(failed.getMessage());
      return EbpfTool.FAILED;
    }
  }

  private void write(PrintStream out) throws IOException {
    List<StackCounts> profiles = new ArrayList<>();
    for (Path input : inputs) {
      profiles.add(read(input));
    }
    if (slowest != null) {
      SlowRequests divided = slowest.divide(profiles.removeFirst());
      out.println(divided.summary());
      profiles.addAll(List.of(divided.others(), divided.slowest()));
    }
    StackCounts whole = profiles.getFirst();
    if (!difference) {
      profiles.subList(1, profiles.size()).forEach(whole::addAll);
    }
    try (Writer text = Files.newBufferedWriter(this.out)) {
      if (difference) {
        text.write(FlameHtml.difference(whole, profiles.getLast(), titleOr(comparison())));
      } else if (this.out.toString().endsWith(".html")) {
        text.write(FlameHtml.of(whole, titleOr("Flame graph")));
      } else if (this.out.toString().endsWith(".json")) {
        PerfettoJson.write(whole, traceId, text);
      } else {
        FoldedText.write(whole, text);
      }
    }
  }

  private StackCounts read(Path input) throws IOException {
    try {
      StackCounts counts = StackFile.read(input);
      counts = unit == null ? counts : counts.as(unit);
      return traceId == null ? counts : counts.ofTrace(traceId);
    } catch (NoSuchFileException absent) {
      throw new IOException(input + ": there is no such file", absent);
    } catch (IOException wrong) {
      throw new IOException(input + ": " + wrong.getMessage(), wrong);
    }
  }

  private String comparison() {
    return slowest == null
        ? "Difference"
        : "Slowest %s %%".formatted(slowest.percent()).replace(".0 ", " ");
  }

  private String titleOr(String other) {
    return title != null ? title : traceId != null ? "Trace " + traceId : other;
  }
}
