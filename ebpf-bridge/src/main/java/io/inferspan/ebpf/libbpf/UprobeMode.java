package io.inferspan.ebpf.libbpf;

/** How a program is attached to functions of user programs; chosen before it is loaded. */
public enum UprobeMode {
  /** One link for all functions, one program for a function's begin and end (Linux 6.13). */
  SESSION(57),
  /** One link for all functions (Linux 6.6). */
  MULTI(48),
  /**
   * One perf event for each function: needs CAP_SYS_ADMIN, and detaching takes a tenth of a second
   * each.
   */
  PERF(0);

  private final int attachType;

  UprobeMode(int attachType) {
    this.attachType = attachType;
  }

  /** The number of the kind of link. */
  public int attachType() {
    return attachType;
  }
}
