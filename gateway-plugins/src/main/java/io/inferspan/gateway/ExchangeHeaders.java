package io.inferspan.gateway;

import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.Collections;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** Reads trace context from the headers of an exchange. */
enum ExchangeHeaders implements TextMapGetter<GatewayExchange> {
  HEADERS;

  @Override
  public @Nullable String get(@Nullable GatewayExchange exchange, String name) {
    return exchange == null ? null : exchange.header(name);
  }

  @Override
  public Iterator<String> getAll(@Nullable GatewayExchange exchange, String name) {
    return exchange == null ? Collections.emptyIterator() : exchange.headers(name);
  }
}
