package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Prefers the endpoint that the client's session is bound to.
 *
 * <p>With {@link #byToken()}, the gateway's response contains {@link #TOKEN_HEADER} with the {@link
 * #token} of the endpoint, and the client sends this header with its next request. With {@link
 * #bySessionId}, the scorer stores the endpoint of each session; add it to the scheduler as a
 * {@link PreRequest}, too.
 */
public final class SessionAffinityScorer implements Scorer, PreRequest {

  /** The header of requests and responses that names the session's endpoint. */
  public static final String TOKEN_HEADER = "x-session-token";

  private final @Nullable String sessionHeader;
  private final Map<String, String> sessions;

  private SessionAffinityScorer(@Nullable String sessionHeader, int maxSessions) {
    this.sessionHeader = sessionHeader;
    this.sessions = new LruMap<>(maxSessions);
  }

  /** Returns a scorer that uses the token from the client. */
  public static SessionAffinityScorer byToken() {
    return new SessionAffinityScorer(null, 0);
  }

  /**
   * Returns a scorer that uses the id in {@code header}, and stores the {@code maxSessions} most
   * recent sessions.
   */
  public static SessionAffinityScorer bySessionId(String header, int maxSessions) {
    if (maxSessions < 1) {
      throw new IllegalArgumentException(
          "the session-affinity scorer stores "
              + maxSessions
              + " sessions, but must store 1 or more");
    }
    return new SessionAffinityScorer(header, maxSessions);
  }

  /** Returns the token for a response of {@code endpoint}. */
  public static String token(Endpoint endpoint) {
    return Base64.getEncoder().encodeToString(endpoint.id().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String type() {
    return "session-affinity-scorer";
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    String bound = sessionHeader == null ? decoded(cycle) : remembered(cycle, sessionHeader);
    for (int i = 0; i < endpoints.size(); i++) {
      into.set(i, endpoints.get(i).id().equals(bound) ? 1 : 0);
    }
    return into.done();
  }

  private static @Nullable String decoded(Cycle cycle) {
    String token = cycle.request().header(TOKEN_HEADER);
    if (token == null) {
      return null;
    }
    try {
      return new String(Base64.getDecoder().decode(token), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private @Nullable String remembered(Cycle cycle, String header) {
    String session = cycle.request().header(header);
    if (session == null) {
      return null;
    }
    synchronized (sessions) {
      return sessions.get(session);
    }
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    Endpoint target = result.target();
    String session = sessionHeader == null ? null : result.cycle().request().header(sessionHeader);
    if (target != null && session != null) {
      synchronized (sessions) {
        sessions.put(session, target.id());
      }
    }
  }
}
