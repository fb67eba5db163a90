package io.inferspan.ebpf.batch;

/** A request of an engine without a plugin, and what was observed of it. */
final class FramedSlot {

  final BatchRequest request;
  final String clientId;
  final long addedNanos;
  long abortedNanos = Long.MAX_VALUE;

  /** Whether it got its first tokens, or may have got them unobserved. */
  boolean started;

  /** Whether it may have got its last tokens unobserved, so that it may have ended. */
  private boolean ended;

  FramedSlot(BatchRequest request, String clientId, long addedNanos) {
    this.request = request;
    this.clientId = clientId;
    this.addedNanos = addedNanos;
  }

  /**
   * Returns whether a step that began at this time may include the request without giving it
   * tokens.
   */
  boolean mayRun(long nanos) {
    return addedNanos < nanos && nanos < abortedNanos && !ended;
  }

  /** Records that the request got tokens. */
  void observed() {
    started = true;
    ended = false;
  }

  /** Marks a gap in the observed steps, in which the request may have got tokens. */
  void unobserved() {
    started = true;
    ended = true;
  }

  /** Counts a step with missing data. */
  void miss() {
    request.miss(1);
    ended = started;
  }
}
