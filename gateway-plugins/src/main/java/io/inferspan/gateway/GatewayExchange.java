package io.inferspan.gateway;

import java.net.InetAddress;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An incoming request, implemented by an adapter. It is read once, when the request begins.
 *
 * <p>Header names are passed in lower case and must be matched ignoring case.
 */
public interface GatewayExchange {

  /** Returns the HTTP method. */
  String method();

  /**
   * Returns the path, with or without the query; it is only compared with known paths and not
   * recorded.
   */
  String path();

  /**
   * Returns the matched route, a low-cardinality value such as {@code /v1/chat/completions}; null
   * if the request has not been routed.
   */
  default @Nullable String route() {
    return null;
  }

  /** Returns the first value of a header, or null. */
  @Nullable String header(String name);

  /** Returns all values of a header. */
  default Iterator<String> headers(String name) {
    String value = header(name);
    return (value == null ? List.<String>of() : List.of(value)).iterator();
  }

  /**
   * Returns the address of the client's connection; null if it is unknown. Called only if {@code
   * INFERSPAN_TRUSTED_CALLERS} does not trust all callers; a caller without an address is then not
   * trusted.
   */
  default @Nullable InetAddress peer() {
    return null;
  }
}
