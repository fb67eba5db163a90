package io.inferspan.kvcache.redis.link;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Describes a failure of the client without naming a key or a pod. */
final class ServerError {

  /** After these errors the connection points to the wrong server. */
  private static final Set<String> ELSEWHERE =
      Set.of("MOVED", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "UNBLOCKED");

  // The client prefixes the server's error with "ERR [3] " for the command at index 3 of a batch.
  private static final Pattern SAID =
      Pattern.compile("(?:ERR \\[\\d+] )?([A-Z]{3,20})\\b(?! \\[).*");

  private ServerError() {}

  /** Returns the server's error code, or null if the failure is not from the server. */
  static @Nullable String code(Throwable failure) {
    String message = failure.getMessage();
    if (message == null || message.startsWith("CONNECTION_CLOSED")) {
      return null;
    }
    Matcher said = SAID.matcher(message.lines().findFirst().orElse(""));
    return said.matches() ? said.group(1) : null;
  }

  /** Returns whether another connection may succeed. */
  static boolean leadsElsewhere(@Nullable String code) {
    return code == null || ELSEWHERE.contains(code);
  }

  static String reason(@Nullable String code) {
    return code == null ? "the connection to Redis was lost" : "Redis refused: " + code;
  }
}
