package io.inferspan.gateway;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an adapter tells of a request that has just arrived; it is asked once and not kept.
 *
 * <p>Header names are asked for in lower case and must be found in any.
 */
public interface GatewayExchange {

  /** The HTTP method. */
  String method();

  /** The path, with or without the query; it is compared with known ones and goes nowhere. */
  String path();

  /**
   * The route that matched, in few values, such as {@code /v1/chat/completions}; null where nothing
   * has routed yet.
   */
  default @Nullable String route() {
    return null;
  }

  /** The first value of a header, or null. */
  @Nullable String header(String name);

  /** All values of a header. */
  default Iterator<String> headers(String name) {
    String value = header(name);
    return (value == null ? List.<String>of() : List.of(value)).iterator();
  }
}
