package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** The outcomes of calls while a capture policy is loaded, numbered as in {@code wire.h}. */
public enum PolicyCount {
  /** Kept by the answer, because the call failed, or because the sums had no room. */
  KEPT(773),
  /** Folded into the sums of their owner. */
  FOLDED(771),
  /** Dropped. */
  DROPPED(772),
  /**
   * Kept by the floor, without asking the policy: all other calls, which the kernel does not count.
   */
  FLOOR(0);

  private final int index;

  PolicyCount(int index) {
    this.index = index;
  }

  /** Returns the number of its counter. */
  public int index() {
    return index;
  }

  /** Returns its name in meters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
