package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.cli.top.Top;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the bridges of this machine. */
@Command(
    name = "top",
    description =
        "Shows the bridges of this machine, whichever process they are in: events, losses and the"
            + " cost of each program, every second.")
final class TopCommand extends ToolCommand {

  @Option(names = "--once", description = "Once, over one second.")
  private boolean once;

  @Override
  public Integer call() throws InterruptedException {
    return new Top(tool().style::picture, tool().out).run(once) ? EbpfTool.DONE : EbpfTool.FAILED;
  }
}
