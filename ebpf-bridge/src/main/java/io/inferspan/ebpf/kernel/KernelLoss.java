package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** Why an event did not reach the ring, numbered as in {@code wire.h}. */
public enum KernelLoss {
  /** There was no room. */
  RING_FULL(512),
  /** No memory to remember that a call began. */
  NO_MEMORY(521),
  /** Calls within calls within calls. */
  CALL_TOO_DEEP(522);

  private final int index;

  KernelLoss(int index) {
    this.index = index;
  }

  int index() {
    return index;
  }

  /** Its name in meters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
