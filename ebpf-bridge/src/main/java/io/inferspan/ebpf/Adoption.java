package io.inferspan.ebpf;

import io.inferspan.ebpf.live.AdoptedProcesses;
import org.jspecify.annotations.Nullable;

/**
 * The attribution of a process and its descendants to a span; see {@link EbpfBridge#adopt}. Ends
 * when it is closed, or when the last of these processes exits.
 */
public final class Adoption implements AutoCloseable {

  private final @Nullable AdoptedProcesses processes;
  private final long owner;

  Adoption(@Nullable AdoptedProcesses processes, long owner) {
    this.processes = processes;
    this.owner = owner;
  }

  /** Returns whether the process was adopted; if not, only events of its requests are recorded. */
  public boolean isActive() {
    return owner != 0;
  }

  /** Ends the adoption. Idempotent. */
  @Override
  public void close() {
    AdoptedProcesses adopted = processes;
    if (adopted != null && isActive()) {
      adopted.release(owner);
    }
  }
}
