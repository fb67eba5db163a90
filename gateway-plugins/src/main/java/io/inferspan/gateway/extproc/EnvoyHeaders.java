package io.inferspan.gateway.extproc;

import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.extproc.wire.HeaderList;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** A request as Envoy's headers tell of it. */
record EnvoyHeaders(HeaderList headers) implements GatewayExchange {

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

  private static String orEmpty(@Nullable String value) {
    return value == null ? "" : value;
  }
}
