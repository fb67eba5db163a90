package io.inferspan.gateway.vertx;

import io.inferspan.gateway.UpstreamAttempt;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.vertx.core.MultiMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Vert.x's headers as a carrier of trace context. */
enum VertxHeaders implements TextMapSetter<MultiMap> {
  HEADERS;

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  /** Writes the trace of an attempt in place of what the client sent. */
  static void inject(UpstreamAttempt attempt, MultiMap headers) {
    attempt.inject(headers, HEADERS);
    List<String> left = headers.getAll(TRACEPARENT);
    if (left.size() > 1) {
      // Nobody traces here, and of several one cannot tell which is meant.
      headers.remove(TRACEPARENT).remove(TRACESTATE);
    }
  }

  @Override
  public void set(@Nullable MultiMap headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      // The state of a trace that goes on follows; that of another one must not.
      headers.remove(TRACESTATE);
    }
    headers.set(name, value);
  }
}
