package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** The reason why events were lost before they reached the ring, numbered as in {@code wire.h}. */
public enum KernelLoss {
  /** The ring was full. */
  RING_FULL(512),
  /**
   * There was no memory for the state of a thread, a connection or a request, so its events were
   * not produced.
   */
  NO_MEMORY(521),
  /** Calls were nested too deeply. */
  CALL_TOO_DEEP(522);

  private final int index;

  KernelLoss(int index) {
    this.index = index;
  }

  /** Returns its index in the map of counters. */
  public int index() {
    return index;
  }

  /** Returns its name in meters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
