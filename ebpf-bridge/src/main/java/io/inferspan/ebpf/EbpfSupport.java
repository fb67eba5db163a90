package io.inferspan.ebpf;

import io.inferspan.ebpf.support.MachineFacts;
import io.inferspan.ebpf.support.ProgramTrial;
import io.inferspan.ebpf.support.SupportCheck;
import java.util.List;

/**
 * The support for kernel events on this machine in this process, and what to do if there is none.
 */
public sealed interface EbpfSupport {

  /** Everything that was looked at, in the order in which to remedy it. */
  List<Prerequisite> prerequisites();

  /** Looks at the machine and at this process; takes some milliseconds and changes nothing. */
  static EbpfSupport check() {
    return SupportCheck.of(MachineFacts.ofThisProcess());
  }

  /**
   * Also loads and attaches the bridge's programs, and takes them off again; takes about a second.
   */
  static EbpfSupport tryOut() {
    EbpfSupport support = check();
    return support instanceof Available machine ? ProgramTrial.on(machine) : support;
  }

  /** It can; what is {@link Prerequisite.State#LIMITED} costs some events. */
  record Available(List<Prerequisite> prerequisites) implements EbpfSupport {

    /** Copies the list. */
    public Available {
      prerequisites = List.copyOf(prerequisites);
    }
  }

  /**
   * It cannot.
   *
   * @param reason the first thing that is missing
   * @param remedy what to do about that
   */
  record Unavailable(String reason, String remedy, List<Prerequisite> prerequisites)
      implements EbpfSupport {

    /** Copies the list. */
    public Unavailable {
      prerequisites = List.copyOf(prerequisites);
    }
  }
}
