package io.inferspan.samples.gateway.config;

import org.jspecify.annotations.Nullable;

/**
 * The address of an engine.
 *
 * @param host a host name or an IP address; IPv6 without brackets
 */
public record Address(String host, int port) {

  private static final int MAX_PORT = 65_535;

  /** Parses {@code host:port}, with an IPv6 host in brackets; returns null for any other text. */
  static @Nullable Address parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      return null;
    }
    String host = text.substring(0, colon);
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    if (host.indexOf(':') >= 0 != bracketed) {
      return null;
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      String bare = bracketed ? host.substring(1, host.length() - 1) : host;
      return port < 1 || port > MAX_PORT || bare.isEmpty() ? null : new Address(bare, port);
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
