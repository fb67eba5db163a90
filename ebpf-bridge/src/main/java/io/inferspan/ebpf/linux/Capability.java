package io.inferspan.ebpf.linux;

/** A Linux capability that the bridge uses. */
public enum Capability {
  SYS_PTRACE(19),
  SYS_ADMIN(21),
  PERFMON(38),
  BPF(39);

  private final long bit;

  Capability(int number) {
    this.bit = 1L << number;
  }

  /** Returns whether a set of capabilities, in the kernel's encoding, contains this one. */
  boolean in(long set) {
    return (set & bit) != 0;
  }
}
