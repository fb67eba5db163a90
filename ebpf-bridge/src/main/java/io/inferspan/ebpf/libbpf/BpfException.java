package io.inferspan.ebpf.libbpf;

/**
 * Thrown if the kernel or libbpf refused a BPF operation; the message says what failed, why, and
 * how to fix it.
 */
public final class BpfException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String reason;
  private final String remedy;
  private final String log;

  /**
   * Creates an exception from a reason, a remedy and the kernel's log; the last two may be empty.
   */
  public BpfException(String reason, String remedy, String log) {
    super(remedy.isEmpty() ? reason : reason + ": " + remedy);
    this.reason = reason;
    this.remedy = remedy;
    this.log = log;
  }

  /** Returns the message without the remedy. */
  public String reason() {
    return reason;
  }

  /** Returns the remedy; empty if none is known. */
  public String remedy() {
    return remedy;
  }

  /**
   * Returns everything that libbpf and the kernel's verifier wrote; may be long, and may be empty.
   */
  public String log() {
    return log;
  }
}
