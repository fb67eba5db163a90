package io.inferspan.pd.allow;

import java.net.InetAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Normalises host names and addresses.
 *
 * <p>If a target were dialled under another reading than the one compared here, it could bypass the
 * list. So any text that is not clearly a host with or without a port has no normal form.
 */
final class HostText {
  private static final String HTTP = "http://";

  private HostText() {}

  /** The host of a target such as {@code http://[::1]:8000}, or null where there is none. */
  static @Nullable String ofTarget(String target) {
    String rest =
        target.regionMatches(true, 0, HTTP, 0, HTTP.length())
            ? target.substring(HTTP.length())
            : target;
    if (rest.startsWith("[")) {
      int end = rest.indexOf(']');
      boolean wellFormed = end > 0 && isPortOrNothing(rest, end + 1);
      return wellFormed && rest.indexOf(':') < end ? of(rest.substring(1, end)) : null;
    }
    int colon = rest.indexOf(':');
    if (colon < 0 || colon != rest.lastIndexOf(':')) {
      return of(rest);
    }
    return isPortOrNothing(rest, colon) ? of(rest.substring(0, colon)) : null;
  }

  /** The one spelling of a host, or null where the text can be none. */
  static @Nullable String of(String host) {
    InetAddress address = literal(host);
    if (address != null) {
      return address.getHostAddress();
    }
    return isName(host) ? host.toLowerCase(Locale.ROOT) : null;
  }

  /** The bytes of an IP address in any textual form, or null where the text is a name. */
  static byte @Nullable [] address(String host) {
    InetAddress address = literal(host);
    return address == null ? null : address.getAddress();
  }

  private static @Nullable InetAddress literal(String host) {
    boolean mayBeAddress =
        host.indexOf(':') >= 0 || (!host.isEmpty() && Character.isDigit(host.charAt(0)));
    if (!mayBeAddress || host.indexOf('%') >= 0) {
      return null;
    }
    try {
      return InetAddress.ofLiteral(host);
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  private static boolean isName(String host) {
    return !host.isEmpty()
        && host.chars()
            .allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || "-._".indexOf(c) >= 0));
  }

  private static boolean isPortOrNothing(String text, int from) {
    if (from == text.length()) {
      return true;
    }
    return text.charAt(from) == ':'
        && from + 1 < text.length()
        && text.chars().skip(from + 1L).allMatch(c -> c >= '0' && c <= '9');
  }
}
