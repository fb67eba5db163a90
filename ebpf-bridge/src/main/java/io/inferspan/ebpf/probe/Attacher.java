package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import java.nio.file.Path;
import java.util.List;

/** Attaches the programs that observe calls. */
@FunctionalInterface
public interface Attacher {

  /** Attaches to all these places of a library, in every process; throws if that fails. */
  BpfLink attach(Path library, List<Site> sites);
}
