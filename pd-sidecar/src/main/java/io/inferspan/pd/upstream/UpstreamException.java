package io.inferspan.pd.upstream;

/** Why an engine gave no complete answer; it costs no stack trace. */
public final class UpstreamException extends Exception {

  /** What went wrong, in the few kinds that callers tell apart. */
  public enum Kind {
    /** Nobody listens there. */
    REFUSED,
    /** No connection came about: name, route, time-out, TLS. */
    UNREACHABLE,
    /** The connection ended before the answer did. */
    RESET,
    /** What came is not HTTP. */
    GARBAGE,
    /** Nothing came in time. */
    OVERDUE,
    /** Not the engine's fault: the proxy itself failed over the answer. */
    INTERNAL
  }

  private static final long serialVersionUID = 1;

  private final Kind kind;
  private final String what;

  UpstreamException(Kind kind, String message) {
    super(message, null, false, false);
    this.kind = kind;
    this.what = message;
  }

  /** An answer that is larger than the proxy is willing to hold. */
  public static UpstreamException tooLarge() {
    return new UpstreamException(Kind.GARBAGE, "the answer is too large");
  }

  /** An answer that is no JSON object where one was to come. */
  public static UpstreamException unreadable() {
    return new UpstreamException(Kind.GARBAGE, "the answer is not a JSON object");
  }

  /** No answer within the time that the request left for it. */
  public static UpstreamException overdue() {
    return new UpstreamException(Kind.OVERDUE, "there was no answer in time");
  }

  /** A connection that ended unused, when the body to send again was no longer there. */
  public static UpstreamException bodyGone() {
    return new UpstreamException(Kind.RESET, "the connection ended before the answer");
  }

  /** One sentence, fit for the client. */
  public String what() {
    return what;
  }

  /** What went wrong. */
  public Kind kind() {
    return kind;
  }
}
