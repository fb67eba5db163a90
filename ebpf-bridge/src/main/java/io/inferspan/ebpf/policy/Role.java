package io.inferspan.ebpf.policy;

import java.util.Locale;

/** The role of a program: a profiler observes calls, a policy decides about them. */
public enum Role {
  /** Runs first and returns no decision. */
  PROFILER(0, 3),
  /** Decides whether a call is kept, folded or dropped. */
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

  /** Returns its name in messages, and in the ELF section names of programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
