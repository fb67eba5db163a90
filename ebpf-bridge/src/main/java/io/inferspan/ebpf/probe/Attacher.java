package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import java.nio.file.Path;
import java.util.List;

/** Attaches the programs that watch calls. */
@FunctionalInterface
public interface Attacher {

  /** Attaches to all these places of a library, in whichever process; or throws. */
  BpfLink attach(Path library, List<Site> sites);
}
