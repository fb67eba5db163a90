package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.gateway.metrics.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * How a request ended: its outcome for meters, and the error for its span.
 *
 * @param type the {@code error.type}; null if nothing failed, or if {@code cause} determines it
 * @param description a description of the error
 */
record Ending(
    Outcome outcome, @Nullable String type, String description, @Nullable Throwable cause) {

  private static final int FIRST_ERROR_STATUS = 400;
  private static final int FIRST_SERVER_ERROR_STATUS = 500;

  static final String TIMEOUT = "timeout";

  static final Ending SERVED = new Ending(Outcome.SUCCESS, null, "", null);
  static final Ending CLIENT_GONE =
      new Ending(
          Outcome.CLIENT_GONE,
          "client_disconnected",
          "the client disconnected before the response was complete",
          null);
  static final Ending TIMED_OUT =
      new Ending(Outcome.TIMEOUT, TIMEOUT, "the gateway's time limit was reached", null);

  /**
   * A response with an error within its stream; the response tap has already set the span's status.
   */
  static final Ending FAILED_WITHIN = new Ending(Outcome.ERROR, null, "", null);

  private static final Ending REJECTED = new Ending(Outcome.REJECTED, null, "", null);

  static Ending failed(String type, String description) {
    return new Ending(Outcome.ERROR, type, description, null);
  }

  static Ending failed(@Nullable Throwable cause) {
    return cause == null
        ? failed("unknown", "unknown")
        : new Ending(Outcome.ERROR, null, "", cause);
  }

  /** Returns the outcome of a complete response with this status. */
  static Ending answered(int status) {
    if (status >= FIRST_SERVER_ERROR_STATUS) {
      return failed(Integer.toString(status), "the response has an error status");
    }
    return status >= FIRST_ERROR_STATUS ? REJECTED : SERVED;
  }

  /**
   * Returns this ending, corrected by the last call to an engine: if the engine aborted its
   * response, the request failed because of the engine, even if the client then disconnected.
   */
  Ending after(int status, @Nullable UpstreamAttempt last, boolean failedWithin) {
    String broken = last == null ? null : last.errorType();
    boolean answered = equals(SERVED);
    boolean engineMayHaveFailed = answered || equals(CLIENT_GONE);
    if (engineMayHaveFailed && broken != null && last != null && last.answered()) {
      return failed(broken, "the engine aborted its response");
    }
    if (!answered) {
      return this;
    }
    Ending byStatus = answered(status);
    if (broken != null && byStatus.outcome == Outcome.ERROR) {
      return broken.equals(TIMEOUT) ? TIMED_OUT : failed(broken, "no engine responded");
    }
    return byStatus.equals(SERVED) && failedWithin ? FAILED_WITHIN : byStatus;
  }

  void describe(OperationSpan span) {
    if (cause != null) {
      span.fail(cause);
    } else if (type != null) {
      span.fail(type, description);
    }
  }
}
