package io.inferspan.gateway.netty;

import io.inferspan.gateway.TraceSetter;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.opentelemetry.context.propagation.TextMapSetter;

/** Setters that write trace context into Netty's headers. */
public final class NettyHeaders {

  /** Writes into HTTP/1.1 headers, and into HTTP/2 headers that a codec presents as HTTP/1.1. */
  public static final TextMapSetter<HttpHeaders> HTTP1 =
      new TraceSetter<>(
          (headers, name, value) -> headers.set(name, value),
          (headers, name) -> headers.remove(name),
          (headers, name) -> headers.getAll(name));

  /** Writes into HTTP/2 headers. */
  public static final TextMapSetter<Http2Headers> HTTP2 =
      new TraceSetter<>(
          (headers, name, value) -> headers.set(name, value),
          (headers, name) -> headers.remove(name),
          (headers, name) -> headers.getAll(name));

  private NettyHeaders() {}
}
