package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.values.ShortValues;
import org.jspecify.annotations.Nullable;

/**
 * The called engine.
 *
 * @param host empty if unknown
 * @param port 0 if unknown
 */
record Target(String host, int port) {

  private static final int MAX_PORT = 65_535;

  /** Reads {@code host:port}, {@code [v6]:port} or a host alone. */
  static Target of(String authority) {
    int colon = authority.lastIndexOf(':');
    boolean bracketed = authority.startsWith("[");
    int close = bracketed ? authority.indexOf(']') : -1;
    if (colon < 0 || colon < close || (!bracketed && authority.indexOf(':') != colon)) {
      return new Target(unbracketed(authority), 0);
    }
    return new Target(unbracketed(authority.substring(0, colon)), port(authority, colon + 1));
  }

  private static String unbracketed(String host) {
    boolean bracketed = host.length() > 1 && host.startsWith("[") && host.endsWith("]");
    return bracketed ? host.substring(1, host.length() - 1) : host;
  }

  private static int port(String authority, int from) {
    int port = 0;
    for (int i = from; i < authority.length(); i++) {
      char c = authority.charAt(i);
      if (c < '0' || c > '9' || port > MAX_PORT) {
        return 0;
      }
      port = port * 10 + c - '0';
    }
    return port > MAX_PORT ? 0 : port;
  }

  PendingSpan describe(PendingSpan span) {
    return span.set(CommonAttributes.SERVER_ADDRESS, address())
        .set(CommonAttributes.SERVER_PORT, knownPort());
  }

  void describe(OperationSpan span) {
    span.set(CommonAttributes.SERVER_ADDRESS, address())
        .set(CommonAttributes.SERVER_PORT, knownPort());
  }

  private @Nullable String address() {
    return host.isEmpty() ? null : ShortValues.of(host);
  }

  private @Nullable Long knownPort() {
    return port > 0 ? Long.valueOf(port) : null;
  }
}
