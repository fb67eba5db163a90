package io.inferspan.pd.telemetry;

import io.netty.handler.codec.http.HttpHeaders;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and writes trace context in Netty's headers. */
enum NettyHeaders implements TextMapGetter<HttpHeaders>, TextMapSetter<HttpHeaders> {
  HEADERS;

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  @Override
  public @Nullable String get(@Nullable HttpHeaders headers, String name) {
    return headers == null ? null : headers.get(name);
  }

  @Override
  public Iterator<String> getAll(@Nullable HttpHeaders headers, String name) {
    return headers == null ? List.<String>of().iterator() : headers.getAll(name).iterator();
  }

  @Override
  public void set(@Nullable HttpHeaders headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      // A matching tracestate is set afterwards; one of another trace must not remain.
      headers.remove(TRACESTATE);
    }
    headers.set(name, value);
  }
}
