package io.inferspan.gateway.vertx;

import io.inferspan.gateway.TraceSetter;
import io.inferspan.gateway.UpstreamAttempt;
import io.vertx.core.MultiMap;
import java.util.List;

/** Vert.x's headers, as a trace is written into them. */
final class VertxHeaders {

  private static final TraceSetter<MultiMap> SETTER =
      new TraceSetter<>(MultiMap::set, MultiMap::remove);

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private VertxHeaders() {}

  /** Writes the trace of an attempt in place of what the client sent. */
  static void inject(UpstreamAttempt attempt, MultiMap headers) {
    attempt.inject(headers, SETTER);
    List<String> left = headers.getAll(TRACEPARENT);
    if (left.size() > 1) {
      // Nobody traces here, and of several one cannot tell which is meant.
      headers.remove(TRACEPARENT).remove(TRACESTATE);
    }
  }
}
