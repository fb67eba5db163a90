package io.inferspan.pd.upstream;

/** Reports why an engine gave no complete response; has no stack trace. */
public final class UpstreamException extends Exception {

  /** The kinds of failures that callers distinguish. */
  public enum Kind {
    /** The connection was refused. */
    REFUSED,
    /** No connection came about: name, route, time-out, TLS. */
    UNREACHABLE,
    /** The connection ended before the answer did. */
    RESET,
    /** An idle connection ended as the request was sent, so the engine did not get it. */
    STALE,
    /** The response is not HTTP. */
    GARBAGE,
    /** The proxy stopped before the answer was complete. */
    SHUTDOWN,
    /** Nothing came in time. */
    OVERDUE,
    /** The proxy has no memory left for the request or for its answer. */
    NO_ROOM,
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

  /** A request or an answer for which there is no memory left. */
  public static UpstreamException noRoom() {
    return new UpstreamException(
        Kind.NO_ROOM, "the limit for held bodies is reached (--held-bodies-limit)");
  }

  /** An answer that is no JSON object where one was to come. */
  public static UpstreamException unreadable() {
    return new UpstreamException(Kind.GARBAGE, "the answer is not a JSON object");
  }

  /** The proxy stopped before the answer was complete. */
  static UpstreamException shutdown() {
    return new UpstreamException(Kind.SHUTDOWN, "the proxy stopped");
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

  /** Returns the {@code error.type} for spans. */
  public String type() {
    return switch (kind) {
      case REFUSED -> "connection_refused";
      case UNREACHABLE -> "unreachable";
      case RESET, STALE -> "connection_reset";
      case GARBAGE -> "malformed_response";
      case SHUTDOWN -> "shutdown";
      case OVERDUE -> "timeout";
      case NO_ROOM -> "no_room_for_body";
      case INTERNAL -> "internal_error";
    };
  }

  /** Returns the kind of failure. */
  public Kind kind() {
    return kind;
  }
}
