package io.inferspan.pd.upstream;

import org.jspecify.annotations.Nullable;

/**
 * An engine's address.
 *
 * @param host a name or an address; IPv6 without brackets
 */
public record Target(String host, int port) {
  private static final int MAX_PORT = 65535;
  private static final int HTTP_PORT = 80;

  /**
   * Parses {@code host:port} from a routing header.
   *
   * <p>A scheme is ignored, an IPv6 address must be in brackets, and the default port is 80.
   *
   * @return null if the text is not valid
   */
  public static @Nullable Target parse(String text) {
    String authority = withoutScheme(text.trim());
    int bracket = authority.lastIndexOf(']');
    int colon = authority.indexOf(':', bracket + 1);
    String host = colon < 0 ? authority : authority.substring(0, colon);
    int port = colon < 0 ? HTTP_PORT : port(authority.substring(colon + 1));
    String bare = withoutBrackets(host);
    return port < 0 || bare == null || !plausible(bare) ? null : new Target(bare, port);
  }

  /** Returns {@code host:port} as in a URL. */
  public String authority() {
    return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + port;
  }

  private static String withoutScheme(String text) {
    int scheme = text.indexOf("://");
    return scheme < 0 ? text : text.substring(scheme + "://".length());
  }

  private static @Nullable String withoutBrackets(String host) {
    if (!host.startsWith("[")) {
      return host;
    }
    return host.endsWith("]") ? host.substring(1, host.length() - 1) : null;
  }

  /**
   * Returns whether a host has only characters of names and addresses: no path, user or control
   * character.
   */
  private static boolean plausible(String host) {
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      if (!Character.isLetterOrDigit(c) && "-._:%".indexOf(c) < 0) {
        return false;
      }
    }
    return !host.isEmpty();
  }

  private static int port(String text) {
    int port = 0;
    for (int i = 0; i < text.length() && port <= MAX_PORT; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      port = port * 10 + digit;
    }
    return text.isEmpty() || port == 0 || port > MAX_PORT ? -1 : port;
  }

  /** Explicit, because a record's generated method would be linked at the first request. */
  @Override
  public int hashCode() {
    return 31 * host.hashCode() + port;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Target target && port == target.port && host.equals(target.host);
  }

  @Override
  public String toString() {
    return authority();
  }
}
