package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** What became of calls that a capture policy was loaded for, numbered as in {@code wire.h}. */
public enum PolicyCount {
  /** Kept by the answer, because the call failed, or because the sums had no room. */
  KEPT(773),
  /** Folded into the sums of their owner. */
  FOLDED(771),
  /** Dropped. */
  DROPPED(772),
  /** Kept without asking the policy: the others, which the kernel side does not count. */
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
