package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.PerfettoJson;
import io.inferspan.ebpf.flame.StackCounts;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a flame graph of the stacks in files. */
@Command(
    name = "flame",
    description =
        "Makes a flame graph from folded stacks, a profile of iaprof, or a trace of the PyTorch"
            + " profiler.")
final class FlameCommand extends StackCommand {

  @Parameters(arity = "1..*", paramLabel = "FILE", description = "Files of stacks.")
  private List<Path> files = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The output: a page (flame.html), folded text, or .json for Perfetto.")
  private Path out = Path.of("flame.html");

  @Override
  public Integer call() throws IOException {
    check();
    requireEnding(out.toString(), ".html", ".folded", ".txt", ".json");
    StackCounts whole = chosen(files.getFirst());
    for (Path file : files.subList(1, files.size())) {
      whole.addAll(chosen(file));
    }
    try (Writer text = Files.newBufferedWriter(out)) {
      if (out.toString().endsWith(".html")) {
        text.write(FlameHtml.of(whole, titleOr("Flame graph")));
      } else if (out.toString().endsWith(".json")) {
        PerfettoJson.write(whole, trace(), text);
      } else {
        FoldedText.write(whole, text);
      }
    }
    tool().out.println("wrote " + out);
    return EbpfTool.DONE;
  }
}
