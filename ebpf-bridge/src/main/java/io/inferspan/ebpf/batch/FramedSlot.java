package io.inferspan.ebpf.batch;

/** A request as an engine without a plugin knows it. */
final class FramedSlot {

  final BatchRequest request;
  final String clientId;
  final long addedNanos;
  long abortedNanos = Long.MAX_VALUE;

  /** Whether it has got tokens, or may have got some that were not observed. */
  boolean started;

  /** Whether its last tokens may not have been observed. */
  private boolean ended;

  FramedSlot(BatchRequest request, String clientId, long addedNanos) {
    this.request = request;
    this.clientId = clientId;
    this.addedNanos = addedNanos;
  }

  /** Returns whether a step that began then may run it without giving it tokens. */
  boolean mayRun(long nanos) {
    return addedNanos < nanos && nanos < abortedNanos && !ended;
  }

  /** Notes tokens. */
  void observed() {
    started = true;
    ended = false;
  }

  /** Notes that steps were not observed, which may have given it tokens. */
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
