package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayExchange;
import io.netty.util.NetUtil;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A request as Vert.x hands it over. */
record VertxExchange(HttpServerRequest request) implements GatewayExchange {

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
    return request.headers().getAll(name).iterator();
  }

  @Override
  public @Nullable InetAddress peer() {
    SocketAddress peer = request.remoteAddress();
    String address = peer == null ? null : peer.hostAddress();
    return address == null ? null : NetUtil.createInetAddressFromIpAddressString(address);
  }
}
