package io.inferspan.ebpf.libbpf;

/**
 * The ways to attach a program to user-space functions. The mode is set before the program is
 * loaded.
 */
public enum UprobeMode {
  /** One link for all functions of a file, and one program for entries and returns (Linux 6.13). */
  SESSION(57),
  /** One link for all functions of a file; entries and returns need a program each (Linux 6.6). */
  MULTI(48),
  /**
   * One perf event per function. It needs CAP_SYS_ADMIN, and detaching each one takes a tenth of a
   * second.
   */
  PERF(0);

  private final int attachType;

  UprobeMode(int attachType) {
    this.attachType = attachType;
  }

  /** Returns the number of the kernel's attach type; 0 for {@link #PERF}. */
  public int attachType() {
    return attachType;
  }
}
