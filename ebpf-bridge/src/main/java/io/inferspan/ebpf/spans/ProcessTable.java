package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.probe.ProcessIdentity;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A cache of process identities. An identity is read at the first event of a process, because the
 * process may have exited by the time its spans are written. Each pid has one slot; pids that share
 * a slot replace each other.
 */
final class ProcessTable {

  private static final int SLOTS = 1024;

  private final IntFunction<ProcessIdentity> reader;
  private final int[] pids = new int[SLOTS];
  private final @Nullable ProcessIdentity[] identities = new @Nullable ProcessIdentity[SLOTS];
  private final boolean[] stale = new boolean[SLOTS];

  ProcessTable(IntFunction<ProcessIdentity> reader) {
    this.reader = reader;
  }

  /** Reads the identity of a process at its first event. */
  void note(int pid) {
    int slot = pid & (SLOTS - 1);
    if (pids[slot] != pid || stale[slot]) {
      read(slot, pid);
    }
  }

  /**
   * Notes that a process has ended or executed another program, so that its identity is read again
   * at the next event with this pid.
   */
  void changed(int pid) {
    stale[pid & (SLOTS - 1)] = true;
  }

  ProcessIdentity of(int pid) {
    int slot = pid & (SLOTS - 1);
    ProcessIdentity known = identities[slot];
    return known != null && pids[slot] == pid ? known : read(slot, pid);
  }

  private ProcessIdentity read(int slot, int pid) {
    ProcessIdentity identity = reader.apply(pid);
    pids[slot] = pid;
    identities[slot] = identity;
    stale[slot] = false;
    return identity;
  }
}
