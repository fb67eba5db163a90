package io.inferspan.ebpf.linux;

/** The privileges of Linux that concern the bridge. */
public enum Capability {
  SYS_PTRACE(19),
  SYS_ADMIN(21),
  PERFMON(38),
  BPF(39);

  private final long bit;

  Capability(int number) {
    this.bit = 1L << number;
  }

  /** Whether a set of capabilities, as the kernel writes it, has this one. */
  boolean in(long set) {
    return (set & bit) != 0;
  }
}
