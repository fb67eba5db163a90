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

  /** The array of programs: what is called, and what was before. */
  public static final String PROGRAMS = "policies";

  /** The maps that a policy finds by name. */
  public static final List<String> SHARED =
      List.of(PROGRAMS, "policy_calls", "latencies", "rates", "levels");

  /** Those that no program of ours uses. */
  private static final List<String> ONLY_OF_POLICIES = List.of("latencies", "rates", "levels");

  /** The program that writes what a policy has judged; only the others call it. */
  private static final String WRITER = "call_judged";

  private static final int WRITER_SLOT = 2;

  private PolicyMaps() {}

  /** Lets the writer be called by programs that are attached in this way, before it is loaded. */
  static void choose(BpfObject calls, UprobeMode mode) {
    calls.program(WRITER).via(mode);
  }

  /** Puts the writer into its slot, and lets others find the maps that no program of ours uses. */
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
