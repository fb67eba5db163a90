package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.ListedRequests;
import io.inferspan.ebpf.flame.PerfettoJson;
import io.inferspan.ebpf.flame.SlowRequests;
import io.inferspan.ebpf.flame.StackCounts;
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
 * @param requests whose stacks; null for those of all
 * @param slowest percent of the requests of one file, to compare with the others; null for two
 *     files
 */
record StackOrder(
    List<Path> inputs,
    boolean difference,
    Path out,
    @Nullable String title,
    @Nullable Unit unit,
    @Nullable Requests requests,
    @Nullable Double slowest)
    implements Invocation {

  static final String OPTIONS =
      "--out, --title, --unit, --trace, --model, --requests; of diff: --slowest";

  /**
   * Chooses requests.
   *
   * @param traceId the only request; null for several
   * @param list how long requests took, and of which models they were; null if unknown
   * @param model the only model; null for all
   */
  record Requests(@Nullable String traceId, @Nullable Path list, @Nullable String model) {

    static @Nullable Requests of(
        @Nullable String traceId, @Nullable String list, @Nullable String model)
        throws UsageException {
      if (model != null && list == null) {
        throw new UsageException("--model " + model + ": needs --requests, which names models");
      }
      boolean all = traceId == null && list == null;
      return all ? null : new Requests(traceId, list == null ? null : Path.of(list), model);
    }

    /** Null if there is no list. */
    @Nullable ListedRequests listed() throws IOException {
      if (list == null) {
        return null;
      }
      try (BufferedReader text = Files.newBufferedReader(list)) {
        ListedRequests all = ListedRequests.read(text);
        return model == null ? all : all.ofModel(model);
      } catch (NoSuchFileException absent) {
        throw new IOException(list + ": there is no such file", absent);
      } catch (IOException wrong) {
        throw new IOException(list + ": " + wrong.getMessage(), wrong);
      }
    }

    StackCounts of(StackCounts counts) throws IOException {
      ListedRequests listed = listed();
      StackCounts chosen = listed == null ? counts : listed.stacks(counts);
      return traceId == null ? chosen : chosen.ofTrace(traceId);
    }
  }

  static Invocation parse(String command, Arguments rest) throws UsageException {
    List<Path> inputs = new ArrayList<>();
    @Nullable String out = null;
    @Nullable String title = null;
    @Nullable String unit = null;
    @Nullable String trace = null;
    @Nullable String slowest = null;
    @Nullable String requests = null;
    @Nullable String model = null;
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "--out" -> out = rest.valueOf(word);
        case "--title" -> title = rest.valueOf(word);
        case "--unit" -> unit = rest.valueOf(word);
        case "--trace" -> trace = traceId(rest.valueOf(word));
        case "--slowest" -> slowest = rest.valueOf(word);
        case "--requests" -> requests = rest.valueOf(word);
        case "--model" -> model = rest.valueOf(word);
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> inputs.add(input(command, word, rest));
      }
    }
    boolean difference = command.equals("diff");
    Double percent = percent(slowest);
    check(command, inputs.size(), percent != null);
    if ((percent != null || requests != null) && trace != null) {
      throw new UsageException("--trace takes one request, so it needs no --slowest or --requests");
    }
    Path file = out(out, difference);
    return new StackOrder(
        inputs, difference, file, title, unit(unit), Requests.of(trace, requests, model), percent);
  }

  private static @Nullable Double percent(@Nullable String slowest) throws UsageException {
    if (slowest == null) {
      return null;
    }
    if (!slowest.matches("[0-9]{1,2}(\\.[0-9]{1,3})?%") || slowest.matches("[0.]+%")) {
      throw new UsageException("--slowest " + slowest + ": must be from 0.001% to 99.999%");
    }
    return Double.valueOf(slowest.substring(0, slowest.length() - 1));
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
      StackCounts counts = read(input);
      // Those that --slowest divides are chosen by the list there.
      profiles.add(requests == null || slowest != null ? counts : requests.of(counts));
    }
    if (slowest != null) {
      ListedRequests listed = requests == null ? null : requests.listed();
      SlowRequests divided =
          SlowRequests.of(profiles.removeFirst(), slowest, listed == null ? null : listed.millis());
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
        PerfettoJson.write(whole, requests == null ? null : requests.traceId(), text);
      } else {
        FoldedText.write(whole, text);
      }
    }
  }

  private StackCounts read(Path input) throws IOException {
    try {
      StackCounts counts = StackFile.read(input);
      return unit == null ? counts : counts.as(unit);
    } catch (NoSuchFileException absent) {
      throw new IOException(input + ": there is no such file", absent);
    } catch (IOException wrong) {
      throw new IOException(input + ": " + wrong.getMessage(), wrong);
    }
  }

  private String comparison() {
    return slowest == null ? "Difference" : "Slowest %s %%".formatted(slowest).replace(".0 ", " ");
  }

  private String titleOr(String other) {
    if (title != null || requests == null) {
      return title == null ? other : title;
    }
    if (requests.traceId() != null) {
      return "Trace " + requests.traceId();
    }
    return requests.model() == null ? other : other + ", " + requests.model();
  }
}
