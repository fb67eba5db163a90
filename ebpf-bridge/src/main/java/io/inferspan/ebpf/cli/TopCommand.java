package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.cli.top.Top;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the bridges of this machine. */
@Command(
    name = "top",
    description =
        "Shows all bridges of this machine every second: events, losses and the"
            + " cost of each program.")
final class TopCommand extends ToolCommand {

  @Option(names = "--once", description = "Print one page, measured over one second, and exit.")
  private boolean once;

  @Override
  public Integer call() throws InterruptedException {
    return new Top(tool().style::redraw, tool().out).run(once) ? EbpfTool.DONE : EbpfTool.FAILED;
  }
}
