package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayExchange;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A request as HTTP/2 brings it. */
record Http2Exchange(Http2Headers headers, Channel channel) implements GatewayExchange {

  @Override
  public String method() {
    return text(headers.method());
  }

  @Override
  public String path() {
    return text(headers.path());
  }

  @Override
  public @Nullable String header(String name) {
    CharSequence value = headers.get(name);
    return value == null ? null : value.toString();
  }

  @Override
  public Iterator<String> headers(String name) {
    // Netty's iterators over the values of a name go backwards.
    return headers.getAll(name).stream().map(CharSequence::toString).iterator();
  }

  @Override
  public @Nullable InetAddress peer() {
    return Passing.peer(channel);
  }

  private static String text(@Nullable CharSequence value) {
    return value == null ? "" : value.toString();
  }
}
