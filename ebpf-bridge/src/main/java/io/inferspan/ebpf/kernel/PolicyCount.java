package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** The outcomes of calls while a capture policy is loaded, numbered as in {@code wire.h}. */
public enum PolicyCount {
  /** Kept because the policy decided so, the call failed, or the table of sums was full. */
  KEPT(773),
  /** Folded into the sums of their owner. */
  FOLDED(771),
  /** Dropped. */
  DROPPED(772),
  /**
   * Kept by the floor, without asking the policy. The kernel has no counter of these calls: they
   * are all calls without another outcome.
   */
  FLOOR(0);

  private final int index;

  PolicyCount(int index) {
    this.index = index;
  }

  /** Returns its index in the map of counters; 0 if it has no counter. */
  public int index() {
    return index;
  }

  /** Returns its name in meters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
