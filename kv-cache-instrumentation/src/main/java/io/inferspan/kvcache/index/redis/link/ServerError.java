package io.inferspan.kvcache.index.redis.link;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a failure of the client means, in words without a key or a pod. */
final class ServerError {

  /** After these the connection leads to the wrong server. */
  private static final Set<String> ELSEWHERE =
      Set.of("MOVED", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "UNBLOCKED");

  // The client puts "ERR [3] " before what the server said to the command at 3 of a batch.
  private static final Pattern SAID =
      Pattern.compile("(?:ERR \\[\\d+] )?([A-Z]{3,20})\\b(?! \\[).*");

  private ServerError() {}

  /** The word with which the server refused; null where it was not the server. */
  static @Nullable String code(Throwable failure) {
    String message = failure.getMessage();
    if (message == null || message.startsWith("CONNECTION_CLOSED")) {
      return null;
    }
    Matcher said = SAID.matcher(message.lines().findFirst().orElse(""));
    return said.matches() ? said.group(1) : null;
  }

  /** Whether another connection may do better. */
  static boolean leadsElsewhere(@Nullable String code) {
    return code == null || ELSEWHERE.contains(code);
  }

  static String reason(@Nullable String code) {
    return code == null ? "the connection to Redis was lost" : "Redis refused: " + code;
  }
}
