package io.inferspan.samples.desk.web;

import io.vertx.core.net.HostAndPort;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * If the desk listens on loopback, rejects requests whose host is not a loopback name or address.
 * This prevents DNS rebinding, where the host name of a foreign web page resolves to a loopback
 * address.
 */
final class HostGuard {

  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?::1]?|.*\\.localhost");

  private final boolean loopbackOnly;

  HostGuard(String boundTo) {
    this.loopbackOnly = isLoopback(boundTo);
  }

  static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host).matches();
  }

  boolean admits(@Nullable HostAndPort authority) {
    return !loopbackOnly || (authority != null && isLoopback(authority.host()));
  }
}
