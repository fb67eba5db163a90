package io.inferspan.kvcache.redis;

import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reason why an operation failed, without the names of keys and pods.
 *
 * <p>It has no stack trace, because one would be recorded for each failed write.
 */
final class RedisFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  static final String LOST = "the connection to Redis was lost";

  private static final String LATE = "Redis did not answer in time";
  private static final String REFUSED = "Redis refused: ";

  /**
   * Errors that a new connection may avoid, such as those of a server that is no longer the master.
   */
  private static final Set<String> ELSEWHERE =
      Set.of("MOVED", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "UNBLOCKED");

  // The client prefixes the server's error with "ERR [3] " for the command at index 3 of a batch.
  private static final Pattern SERVER_ERROR =
      Pattern.compile("(?:ERR \\[\\d+] )?([A-Z]{3,20})\\b(?! \\[).*");

  RedisFailure(String reason) {
    super(reason, null, false, false);
  }

  /** Returns the failure of an operation whose deadline has passed. */
  static RedisFailure late() {
    return new RedisFailure(LATE);
  }

  /** Returns whether the deadline had passed. */
  boolean isLate() {
    return LATE.equals(getMessage());
  }

  /**
   * Returns {@code cause} if it is a {@code RedisFailure}; any other exception comes from reading a
   * response of an unexpected type.
   */
  static RedisFailure of(Throwable cause) {
    return cause instanceof RedisFailure known
        ? known
        : new RedisFailure("Redis sent a response of an unexpected type");
  }

  /** Converts a failure of Vert.x's Redis client. */
  static RedisFailure ofClient(Throwable cause) {
    String message = cause.getMessage();
    if (cause instanceof TimeoutException) {
      return new RedisFailure("Redis does not answer");
    }
    if (message == null || message.startsWith("CONNECTION_CLOSED")) {
      return new RedisFailure(LOST);
    }
    Matcher error = SERVER_ERROR.matcher(message.lines().findFirst().orElse(""));
    return new RedisFailure(error.matches() ? REFUSED + error.group(1) : LOST);
  }

  /** Returns whether the cluster is moving a slot, and a key has left the node. */
  boolean isMoving() {
    return reason().equals(REFUSED + "ASK");
  }

  /** Returns whether another connection may succeed. */
  boolean leadsElsewhere() {
    return !reason().startsWith(REFUSED)
        || ELSEWHERE.contains(reason().substring(REFUSED.length()));
  }

  String reason() {
    return String.valueOf(getMessage());
  }
}
