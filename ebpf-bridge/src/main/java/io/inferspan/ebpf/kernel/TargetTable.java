package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.probe.ProcessWatch;
import java.lang.foreign.Arena;

/**
 * The kernel's map of the processes whose requests are observed. Programs remove processes that
 * exit.
 */
public final class TargetTable implements ProcessWatch.Targets {

  private static final int CHOSEN = 1;

  private final BpfMap targets;

  TargetTable(BpfMap targets) {
    this.targets = targets;
  }

  @Override
  public boolean add(int pid) {
    try (Arena arena = Arena.ofConfined()) {
      return targets.put(arena.allocateFrom(JAVA_INT, pid), arena.allocateFrom(JAVA_INT, CHOSEN));
    }
  }

  @Override
  public void remove(int pid) {
    try (Arena arena = Arena.ofConfined()) {
      targets.delete(arena.allocateFrom(JAVA_INT, pid));
    }
  }
}
