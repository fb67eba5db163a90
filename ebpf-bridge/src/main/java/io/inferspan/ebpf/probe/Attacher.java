package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.wire.EventClass;
import java.nio.file.Path;
import java.util.List;

/** Attaches the programs that observe calls. */
@FunctionalInterface
public interface Attacher {

  /**
   * Attaches to all these functions of a library, in every process; throws if one of them fails.
   */
  BpfLink attach(Path library, List<Site> sites);

  /** Returns the class of a function's events; each class is attached separately. */
  default EventClass classOf(Site site) {
    return EventClass.CALLS;
  }
}
