package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.UprobeMode;
import java.lang.foreign.Arena;
import java.util.List;

/** The maps of {@code inferspan_policy.h}, which policies share with the programs of calls. */
public final class PolicyMaps {

  /** The array of programs: the current and the previous ones. */
  public static final String PROGRAMS = "policies";

  /** The maps that a policy finds by name. */
  public static final List<String> SHARED =
      List.of(PROGRAMS, "policy_calls", "latencies", "rates", "levels");

  /** The maps that only policies use. */
  private static final List<String> ONLY_OF_POLICIES = List.of("latencies", "rates", "levels");

  /** The program that writes the calls that a policy keeps; only other programs call it. */
  private static final String WRITER = "call_judged";

  private static final int WRITER_SLOT = 2;

  private PolicyMaps() {}

  /** Gives the writer, before it is loaded, the type of the programs that call it. */
  static void choose(BpfObject calls, UprobeMode mode) {
    calls.program(WRITER).via(mode);
  }

  /**
   * Puts the writer into its slot, and binds the maps that only policies use so that they can be
   * found.
   */
  static void prepare(BpfObject calls) {
    BpfProgram writer = calls.program(WRITER);
    ONLY_OF_POLICIES.forEach(map -> writer.bind(calls.map(map)));
    try (Arena arena = Arena.ofConfined()) {
      if (!calls
          .map(PROGRAMS)
          .put(
              arena.allocateFrom(JAVA_INT, WRITER_SLOT),
              arena.allocateFrom(JAVA_INT, writer.fd()))) {
        throw new BpfException(
            "the kernel refused to put a program into the array of policies", "", "");
      }
    }
  }
}
