package io.inferspan.ebpf.libbpf;

/**
 * Something of BPF that was refused: one sentence that says what, why and what to do.
 *
 * <p>Only thrown while the bridge is set up or taken down.
 */
public final class BpfException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String reason;
  private final String remedy;
  private final String log;

  /** With the sentence, what to do, and all that the kernel wrote; the last two may be empty. */
  public BpfException(String reason, String remedy, String log) {
    super(remedy.isEmpty() ? reason : reason + ": " + remedy);
    this.reason = reason;
    this.remedy = remedy;
    this.log = log;
  }

  /** The sentence without what to do about it. */
  public String reason() {
    return reason;
  }

  /** What to do about it; empty where nobody knows. */
  public String remedy() {
    return remedy;
  }

  /** All that libbpf and the kernel's verifier wrote; may be long, and may be empty. */
  public String log() {
    return log;
  }
}
