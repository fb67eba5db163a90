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
   * Kept by the floor, without asking the policy. The kernel does not count them; they are all
   * other calls.
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
