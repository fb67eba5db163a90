package io.inferspan.ebpf.policy;

import java.util.Locale;

/** What a program does: it learns about calls, or it decides about them. */
public enum Role {
  /** Is asked first and answers nothing. */
  PROFILER(0, 3),
  /** Answers whether a call is kept, folded or dropped. */
  POLICY(1, 4);

  private final int slot;
  private final int previousSlot;

  Role(int slot, int previousSlot) {
    this.slot = slot;
    this.previousSlot = previousSlot;
  }

  int slot() {
    return slot;
  }

  int previousSlot() {
    return previousSlot;
  }

  /** Returns its name in texts, and in the section of its programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
