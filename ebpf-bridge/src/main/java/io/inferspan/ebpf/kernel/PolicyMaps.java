package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.probe.CallPrograms;
import java.lang.foreign.Arena;
import java.util.List;

/** The maps of {@code inferspan_policy.h}, which policies share with the programs of calls. */
public final class PolicyMaps {

  /** The array of programs: what is called, and what was before. */
  public static final String PROGRAMS = "policies";

  /** The maps that a policy finds by name. */
  public static final List<String> SHARED =
      List.of(PROGRAMS, "policy_calls", "latencies", "rates", "levels");

  /** Those that no program of ours uses. The array is not among them: it holds the writer. */
  private static final List<String> ONLY_OF_POLICIES = List.of("latencies", "rates", "levels");

  private static final int WRITER_SLOT = 2;

  private PolicyMaps() {}

  /** Puts the writer into its slot, and lets others find the maps that no program of ours uses. */
  static void prepare(BpfObject calls) {
    BpfProgram writer = calls.program(CallPrograms.WRITER);
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
