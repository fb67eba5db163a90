package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.ListedRequests;
import io.inferspan.ebpf.flame.SlowRequests;
import io.inferspan.ebpf.flame.StackCounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a flame graph of the differences between two sets of stacks. */
@Command(
    name = "diff",
    description =
        "Makes a flame graph of the differences between BEFORE and AFTER or, with"
            + " --slowest, between the slowest requests of one file and the others.")
final class DiffCommand extends StackCommand {

  @Parameters(index = "0", paramLabel = "BEFORE", description = "A file of stacks, as for flame.")
  private @Nullable Path before;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "AFTER",
      description = "The file to compare it with.")
  private @Nullable Path after;

  @Option(
      names = "--slowest",
      paramLabel = "N%",
      description =
          "Compare the slowest N percent of the requests in one file of record --by-trace with the"
              + " others. Without --requests, the slowest are the requests with the most samples.")
  private @Nullable String slowest;

  @Option(names = "--out", paramLabel = "FILE", description = "The page (flame.html).")
  private Path out = Path.of("flame.html");

  @Override
  public Integer call() throws IOException {
    check();
    requireEnding(out.toString(), ".html");
    if (before == null || (slowest == null) == (after == null)) {
      throw wrong("diff needs two files, or one and --slowest");
    }
    String page;
    if (after == null) {
      double percent = percent(String.valueOf(slowest));
      ListedRequests listed = listed();
      SlowRequests divided =
          SlowRequests.of(read(before), percent, listed == null ? null : listed.millis());
      tool().out.println(divided.summary());
      String title = "Slowest %s %%".formatted(percent).replace(".0 ", " ");
      page = FlameHtml.difference(divided.others(), divided.slowest(), titleOr(title));
    } else {
      StackCounts first = chosen(before);
      page = FlameHtml.difference(first, chosen(after), titleOr("Difference"));
    }
    Files.writeString(out, page);
    tool().out.println("wrote " + out);
    return EbpfTool.DONE;
  }

  private double percent(String share) {
    if (!share.matches("[0-9]{1,2}(\\.[0-9]{1,3})?%") || share.matches("[0.]+%")) {
      throw wrong("--slowest " + share + ": must be from 0.001% to 99.999%");
    }
    if (trace() != null) {
      throw wrong("--trace selects one request, but --slowest compares several");
    }
    return Double.parseDouble(share.substring(0, share.length() - 1));
  }
}
