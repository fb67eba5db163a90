package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.probe.ProcessIdentity;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Identities of processes, read when their first event comes: when their spans are written they may
 * be gone. A full slot is given to the next process.
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

  /** Takes note of a process of which an event has come. */
  void note(int pid) {
    int slot = pid & (SLOTS - 1);
    if (pids[slot] != pid || stale[slot]) {
      read(slot, pid);
    }
  }

  /** Notes that the process has ended, or runs another program: its number's next event is new. */
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
