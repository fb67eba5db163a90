package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.nio.file.Path;
import java.util.List;

/**
 * The programs that measure calls: one for entry and return if the kernel has uprobe sessions,
 * otherwise two.
 */
public final class CallPrograms implements Attacher {

  /**
   * The class by which the probes on NCCL's functions are paused and resumed; no other function
   * belongs to it. Events of NCCL belong to {@link EventClass#CALLS}, but the probes stay attached
   * while the bridge sleeps, so that all collectives of a communicator are counted.
   */
  public static final EventClass COLLECTIVES = EventClass.SYSCALLS;

  private static final int KIND = 0xffff;

  private final List<BpfProgram> programs;

  private CallPrograms(List<BpfProgram> programs) {
    this.programs = programs;
  }

  /**
   * Selects the programs of an object for this mode. Must be called before the object is loaded.
   */
  public static CallPrograms choose(BpfObject calls, UprobeMode mode) {
    boolean session = mode == UprobeMode.SESSION;
    calls.autoload("call_session", session);
    calls.autoload("call_enter", !session);
    calls.autoload("call_return", !session);
    List<String> chosen = session ? List.of("call_session") : List.of("call_enter", "call_return");
    return new CallPrograms(
        chosen.stream().map(program -> calls.program(program).via(mode)).toList());
  }

  /** Returns the names of the selected programs. */
  public List<String> programs() {
    return programs.stream().map(BpfProgram::name).toList();
  }

  @Override
  public BpfLink attach(Path library, List<Site> sites) {
    // The return probe is attached first, because a return without an entry is ignored, while an
    // entry without a return would remain open.
    BpfLink last = attach(programs.size() - 1, library, sites);
    if (programs.size() == 1) {
      return last;
    }
    try {
      return BpfLink.all(List.of(attach(0, library, sites), last));
    } catch (RuntimeException refused) {
      last.close();
      throw refused;
    }
  }

  /**
   * Returns the class of the call's kind, which {@code calls.h} puts into the cookie's low bits.
   */
  @Override
  public EventClass classOf(Site site) {
    Kind kind = Kind.of((int) site.cookie() & KIND);
    if (kind != null && kind.number() >= Kind.NCCL_ALL_REDUCE.number()) {
      return COLLECTIVES;
    }
    return kind != null && EventClass.of(kind) == EventClass.LAUNCHES
        ? EventClass.LAUNCHES
        : EventClass.CALLS;
  }

  private BpfLink attach(int program, Path library, List<Site> sites) {
    boolean atReturn = program == 1;
    return programs
        .get(program)
        .attachUprobes(new UprobeTarget(library, sites, UprobeTarget.EVERY_PROCESS, atReturn));
  }
}
