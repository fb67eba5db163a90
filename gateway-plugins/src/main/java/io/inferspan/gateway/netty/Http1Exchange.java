package io.inferspan.gateway.netty;

import io.inferspan.gateway.GatewayExchange;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpRequest;
import java.net.InetAddress;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A request as HTTP/1.1 brings it. */
record Http1Exchange(HttpRequest request, Channel channel) implements GatewayExchange {

  @Override
  public String method() {
    return request.method().name();
  }

  @Override
  public String path() {
    return request.uri();
  }

  @Override
  public @Nullable String header(String name) {
    return request.headers().get(name);
  }

  @Override
  public Iterator<String> headers(String name) {
    // Netty's iterators over the values of a name go backwards.
    return request.headers().getAll(name).iterator();
  }

  @Override
  public @Nullable InetAddress peer() {
    return Passing.peer(channel);
  }
}
