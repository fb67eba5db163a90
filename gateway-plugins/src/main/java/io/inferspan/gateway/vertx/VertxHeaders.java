package io.inferspan.gateway.vertx;

import io.inferspan.gateway.TraceSetter;
import io.inferspan.gateway.UpstreamAttempt;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.vertx.core.MultiMap;
import org.jspecify.annotations.Nullable;

/** Vert.x's headers, as a trace is written into them. */
final class VertxHeaders {

  private static final TraceSetter<MultiMap> SETTER =
      new TraceSetter<>(MultiMap::set, MultiMap::remove);

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private VertxHeaders() {}

  /** Writes the trace of an attempt in place of what the client sent. */
  static void inject(UpstreamAttempt attempt, MultiMap headers) {
    Writing writing = new Writing();
    attempt.inject(headers, writing);
    if (!writing.parentIsOurs && headers.getAll(TRACEPARENT).size() > 1) {
      // Nobody traces here, and of several one cannot tell which is meant.
      headers.remove(TRACEPARENT).remove(TRACESTATE);
    }
  }

  /** Knows whether it has replaced the client's trace. */
  private static final class Writing implements TextMapSetter<MultiMap> {
    private boolean parentIsOurs;

    @Override
    public void set(@Nullable MultiMap headers, String name, String value) {
      SETTER.set(headers, name, value);
      parentIsOurs |= name.equals(TRACEPARENT);
    }
  }
}
