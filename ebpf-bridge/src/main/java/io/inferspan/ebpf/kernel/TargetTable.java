package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfMap;
import java.lang.foreign.Arena;

/** The processes whose requests are of interest; the kernel takes out those that end. */
public final class TargetTable {

  private static final int CHOSEN = 1;

  private final BpfMap targets;

  TargetTable(BpfMap targets) {
    this.targets = targets;
  }

  /** Adds a process; false where there is no room. */
  public boolean add(int pid) {
    try (Arena arena = Arena.ofConfined()) {
      return targets.put(arena.allocateFrom(JAVA_INT, pid), arena.allocateFrom(JAVA_INT, CHOSEN));
    }
  }

  /** Takes a process out that is of no interest any more. */
  public void remove(int pid) {
    try (Arena arena = Arena.ofConfined()) {
      targets.delete(arena.allocateFrom(JAVA_INT, pid));
    }
  }
}
