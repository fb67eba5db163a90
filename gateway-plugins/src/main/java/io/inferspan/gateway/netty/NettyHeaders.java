package io.inferspan.gateway.netty;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.opentelemetry.context.propagation.TextMapSetter;
import org.jspecify.annotations.Nullable;

/** Netty's headers, as a trace is written into them. */
public final class NettyHeaders {

  /** Writes into headers of HTTP/1.1, and of HTTP/2 where it is dressed up as that. */
  public static final TextMapSetter<HttpHeaders> HTTP1 = NettyHeaders::set;

  /** Writes into headers of HTTP/2. */
  public static final TextMapSetter<Http2Headers> HTTP2 = NettyHeaders::set;

  private static final String TRACEPARENT = "traceparent";
  private static final String TRACESTATE = "tracestate";

  private NettyHeaders() {}

  private static void set(@Nullable HttpHeaders headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      // The state of a trace that goes on follows; that of another one must not.
      headers.remove(TRACESTATE);
    }
    headers.set(name, value);
  }

  private static void set(@Nullable Http2Headers headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (name.equals(TRACEPARENT)) {
      headers.remove(TRACESTATE);
    }
    headers.set(name, value);
  }
}
