package io.inferspan.gateway.netty;

import io.inferspan.gateway.TraceSetter;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.opentelemetry.context.propagation.TextMapSetter;

/** Netty's headers, as a trace is written into them. */
public final class NettyHeaders {

  /** Writes into headers of HTTP/1.1, and of HTTP/2 where it is dressed up as that. */
  public static final TextMapSetter<HttpHeaders> HTTP1 =
      new TraceSetter<>(
          (headers, name, value) -> headers.set(name, value),
          (headers, name) -> headers.remove(name),
          (headers, name) -> headers.getAll(name));

  /** Writes into headers of HTTP/2. */
  public static final TextMapSetter<Http2Headers> HTTP2 =
      new TraceSetter<>(
          (headers, name, value) -> headers.set(name, value),
          (headers, name) -> headers.remove(name),
          (headers, name) -> headers.getAll(name));

  private NettyHeaders() {}
}
