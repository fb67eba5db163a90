package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.PerfettoJson;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.imports.StackFile;
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
 */
record StackOrder(
    List<Path> inputs,
    boolean difference,
    Path out,
    @Nullable String title,
    @Nullable Unit unit,
    @Nullable String traceId)
    implements Invocation {

  static final String OPTIONS = "--out, --title, --unit, --trace";

  static Invocation parse(String command, Arguments rest) throws UsageException {
    List<Path> inputs = new ArrayList<>();
    @Nullable String out = null;
    @Nullable String title = null;
    @Nullable String unit = null;
    @Nullable String trace = null;
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "--out" -> out = rest.valueOf(word);
        case "--title" -> title = rest.valueOf(word);
        case "--unit" -> unit = rest.valueOf(word);
        case "--trace" -> trace = traceId(rest.valueOf(word));
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> inputs.add(input(command, word, rest));
      }
    }
    boolean difference = command.equals("diff");
    if (inputs.isEmpty() || (difference && inputs.size() != 2)) {
      throw new UsageException(
          command + " needs " + (difference ? "two files, before and after" : "a file of stacks"));
    }
    return new StackOrder(inputs, difference, out(out, difference), title, unit(unit), trace);
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
      write();
      out.println("wrote " + this.out);
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(failed.getMessage());
      return EbpfTool.FAILED;
    }
  }

  private void write() throws IOException {
    List<StackCounts> profiles = new ArrayList<>();
    for (Path input : inputs) {
      profiles.add(read(input));
    }
    StackCounts whole = profiles.getFirst();
    if (!difference) {
      profiles.subList(1, profiles.size()).forEach(whole::addAll);
    }
    try (Writer text = Files.newBufferedWriter(out)) {
      if (difference) {
        text.write(FlameHtml.difference(whole, profiles.getLast(), titleOr("Difference")));
      } else if (out.toString().endsWith(".html")) {
        text.write(FlameHtml.of(whole, titleOr("Flame graph")));
      } else if (out.toString().endsWith(".json")) {
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

  private String titleOr(String other) {
    return title != null ? title : traceId != null ? "Trace " + traceId : other;
  }
}
