package io.inferspan.ebpf;

import io.inferspan.ebpf.support.MachineFacts;
import io.inferspan.ebpf.support.ProgramTrial;
import io.inferspan.ebpf.support.SupportCheck;
import java.util.List;

/** Whether this process can observe kernel events on this machine, and what to do if it cannot. */
public sealed interface EbpfSupport {

  /** Returns all prerequisites that were checked, in the order in which to fix them. */
  List<Prerequisite> prerequisites();

  /** Checks the machine and this process; takes a few milliseconds and changes nothing. */
  static EbpfSupport check() {
    return SupportCheck.of(MachineFacts.ofThisProcess());
  }

  /**
   * Checks as {@link #check} does, and also loads, attaches and detaches the bridge's programs;
   * takes about a second.
   */
  static EbpfSupport tryOut() {
    EbpfSupport support = check();
    return support instanceof Available machine ? ProgramTrial.on(machine) : support;
  }

  /**
   * The bridge works; if a prerequisite is {@link Prerequisite.State#LIMITED}, some events are
   * missing.
   */
  record Available(List<Prerequisite> prerequisites) implements EbpfSupport {

    /** Copies the list. */
    public Available {
      prerequisites = List.copyOf(prerequisites);
    }
  }

  /**
   * The bridge does not work.
   *
   * @param reason the first missing prerequisite
   * @param remedy how to fix it
   */
  record Unavailable(String reason, String remedy, List<Prerequisite> prerequisites)
      implements EbpfSupport {

    /** Copies the list. */
    public Unavailable {
      prerequisites = List.copyOf(prerequisites);
    }
  }
}
