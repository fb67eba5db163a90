package io.inferspan.extproc;

import io.inferspan.extproc.wire.HeaderList;
import io.inferspan.gateway.GatewayExchange;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A request as Envoy describes it.
 *
 * @param source the client's {@code address:port}, or null
 */
record EnvoyHeaders(HeaderList headers, @Nullable String source) implements GatewayExchange {

  @Override
  public String method() {
    return orEmpty(headers.first(":method"));
  }

  @Override
  public String path() {
    return orEmpty(headers.first(":path"));
  }

  @Override
  public @Nullable String header(String name) {
    return headers.first(name);
  }

  @Override
  public Iterator<String> headers(String name) {
    return headers.all(name).iterator();
  }

  @Override
  public @Nullable InetAddress peer() {
    if (source == null) {
      return null;
    }
    int port = source.lastIndexOf(':');
    return port < 0
        ? null
        : NetUtil.createInetAddressFromIpAddressString(source.substring(0, port));
  }

  private static String orEmpty(@Nullable String value) {
    return value == null ? "" : value;
  }
}
