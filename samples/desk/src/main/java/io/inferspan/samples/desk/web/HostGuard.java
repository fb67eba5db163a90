package io.inferspan.samples.desk.web;

import io.vertx.core.net.HostAndPort;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests that name another host than this machine while only this machine is served: a
 * web page elsewhere could else have a name of its own point here and read along.
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
