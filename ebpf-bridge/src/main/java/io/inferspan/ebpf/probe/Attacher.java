package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import java.nio.file.Path;
import java.util.List;

/** Attaches the programs that observe calls. */
@FunctionalInterface
public interface Attacher {

  /**
   * Attaches to all these functions of a library, in every process; throws if one of them fails.
   */
  BpfLink attach(Path library, List<Site> sites);
}
