package io.inferspan.gateway.vertx;

import io.inferspan.gateway.TraceSetter;
import io.inferspan.gateway.UpstreamAttempt;
import io.vertx.core.MultiMap;

/** Vert.x's headers, as a trace is written into them. */
final class VertxHeaders {

  private static final TraceSetter<MultiMap> SETTER =
      new TraceSetter<>(MultiMap::set, MultiMap::remove, MultiMap::getAll);

  private VertxHeaders() {}

  /** Writes an attempt's trace context, replacing the client's. */
  static void inject(UpstreamAttempt attempt, MultiMap headers) {
    attempt.inject(headers, SETTER);
  }
}
