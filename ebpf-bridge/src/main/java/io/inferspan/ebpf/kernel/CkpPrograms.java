package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.probe.Attacher;
import io.inferspan.ebpf.wire.EventClass;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The uprobe programs for the functions of {@code inferspan_ckp.h}, one per function. Applications
 * call these functions to report the request, operation or step that a thread works for.
 */
final class CkpPrograms implements Attacher {

  /** The prefix of the header's functions; the rest is the name of the BPF program. */
  private static final String PREFIX = "inferspan_";

  private final List<BpfProgram> programs;

  private CkpPrograms(List<BpfProgram> programs) {
    this.programs = programs;
  }

  static CkpPrograms of(BpfObject ckp, UprobeMode mode) {
    UprobeMode each = mode == UprobeMode.SESSION ? UprobeMode.MULTI : mode;
    return new CkpPrograms(ckp.programs().stream().map(program -> program.via(each)).toList());
  }

  /**
   * Returns the table of functions for files with these names, one per line; the cookie is the
   * index of the function's program.
   */
  String table(List<String> files) {
    StringBuilder table = new StringBuilder();
    for (String file : files) {
      for (int i = 0; i < programs.size(); i++) {
        String function = PREFIX + programs.get(i).name();
        table.append(file).append('\t').append(function).append("\t0x").append(i).append('\n');
      }
    }
    return table.toString();
  }

  List<BpfProgram> programs() {
    return programs;
  }

  @Override
  public EventClass classOf(Site site) {
    return EventClass.REQUESTS;
  }

  @Override
  public BpfLink attach(Path library, List<Site> sites) {
    List<BpfLink> links = new ArrayList<>();
    try {
      // Ends first: an end without a begin is ignored, but a begin without an end stays open.
      for (Site site : sites.reversed()) {
        BpfProgram program = programs.get((int) site.cookie());
        links.add(
            program.attachUprobes(
                new UprobeTarget(library, List.of(site), UprobeTarget.EVERY_PROCESS, false)));
      }
    } catch (RuntimeException refused) {
      links.forEach(BpfLink::close);
      throw refused;
    }
    return BpfLink.all(links);
  }
}
