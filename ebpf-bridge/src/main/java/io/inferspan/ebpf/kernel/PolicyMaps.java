package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.UprobeMode;
import java.lang.foreign.Arena;
import java.util.List;

/**
 * The maps of {@code inferspan_policy.h}, which policies and profilers share with the bridge's
 * programs.
 */
public final class PolicyMaps {

  /**
   * The array of programs: the current and the previous policy and profiler, and the writer of kept
   * calls.
   */
  public static final String PROGRAMS = "policies";

  /** The names of the maps that policies and profilers share with the bridge. */
  public static final List<String> SHARED =
      List.of(PROGRAMS, "policy_calls", "latencies", "rates", "levels");

  /** The maps that only policies and profilers use. */
  private static final List<String> ONLY_OF_POLICIES = List.of("latencies", "rates", "levels");

  /** The program that writes the calls that a policy keeps. It runs only by tail calls. */
  private static final String WRITER = "call_judged";

  private static final int WRITER_SLOT = 2;

  private PolicyMaps() {}

  /**
   * Sets the attach type of the program {@code call_judged} to that of the programs that call it.
   * Must be called before the object is loaded.
   */
  static void choose(BpfObject calls, UprobeMode mode) {
    calls.program(WRITER).via(mode);
  }

  /**
   * Puts the program {@code call_judged} into its slot. Also binds to it the maps that only
   * policies and profilers use, so that other processes can find these maps.
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
