package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.EbpfSupport;
import picocli.CommandLine.Command;

/** Checks whether the bridge works on this machine. */
@Command(
    name = "doctor",
    description = "Lists the bridge's prerequisites, and which of them this machine lacks.")
final class DoctorCommand extends ToolCommand {

  @Override
  public Integer call() {
    EbpfSupport support = EbpfSupport.tryOut();
    tool().out.print(DoctorText.of(support, tool().style));
    return support instanceof EbpfSupport.Available ? EbpfTool.DONE : EbpfTool.FAILED;
  }
}
