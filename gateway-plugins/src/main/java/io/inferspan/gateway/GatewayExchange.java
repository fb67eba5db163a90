package io.inferspan.gateway;

import java.net.InetAddress;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request that has just arrived, as seen by an adapter; read once and not kept.
 *
 * <p>Header names are passed in lower case and must be matched ignoring case.
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

  /**
   * The address of the client's connection; null if it is unknown. Called only if {@code
   * INFERSPAN_TRUSTED_CALLERS} lists networks; a caller without an address is then not trusted.
   */
  default @Nullable InetAddress peer() {
    return null;
  }
}
