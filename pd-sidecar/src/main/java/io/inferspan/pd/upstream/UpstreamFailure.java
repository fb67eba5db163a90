package io.inferspan.pd.upstream;

/**
 * The reason why an engine gave no complete response.
 *
 * @param what a description, which the client may see
 */
public record UpstreamFailure(Kind kind, String what) {

  public enum Kind {
    REFUSED("connection_refused"),
    /** No connection could be established: name, route, timeout, TLS. */
    UNREACHABLE("unreachable"),
    /** The connection ended before the answer did. */
    RESET("connection_reset"),
    /** An idle connection ended as the request was sent, so the engine probably did not get it. */
    STALE("connection_reset"),
    /** The response is not HTTP, too large, or not what the request expects. */
    GARBAGE("malformed_response"),
    SHUTDOWN("shutdown"),
    OVERDUE("timeout"),
    /** There is no room for the request or its response. */
    NO_ROOM("no_room_for_body"),
    /** The proxy itself failed to handle the response. */
    INTERNAL("internal_error");

    private final String type;

    Kind(String type) {
      this.type = type;
    }
  }

  public static UpstreamFailure noRoom() {
    return new UpstreamFailure(
        Kind.NO_ROOM, "the limit for held bodies is reached (--held-bodies-limit)");
  }

  static UpstreamFailure shutdown() {
    return new UpstreamFailure(Kind.SHUTDOWN, "the proxy stopped");
  }

  public static UpstreamFailure overdue() {
    return new UpstreamFailure(Kind.OVERDUE, "the engine did not answer in time");
  }

  /** Returns the {@code error.type} for spans. */
  public String type() {
    return kind.type;
  }
}
