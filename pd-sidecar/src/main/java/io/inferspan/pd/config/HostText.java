package io.inferspan.pd.config;

import java.net.InetAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Host names, IP addresses and CIDR blocks as text; nothing is resolved.
 *
 * <p>A target that is parsed differently for the allow-list and for the connection could bypass the
 * list. Text that is not clearly a host, with or without a port, therefore has no normal form.
 */
public final class HostText {
  private static final String HTTP = "http://";
  private static final int MAX_LABEL = 63;
  private static final int MAX_NAME = 253;

  private HostText() {}

  /**
   * Returns whether a text is a host name, an IP address or a CIDR block, without scheme, port and
   * brackets.
   */
  public static boolean isEntry(String text) {
    int slash = text.indexOf('/');
    if (slash >= 0) {
      return isBlock(text.substring(0, slash), text.substring(slash + 1));
    }
    return isAddress(text) || isLongName(text);
  }

  private static boolean isBlock(String host, String prefix) {
    byte[] address = address(host);
    return address != null
        && isDigits(prefix)
        && prefix.length() <= 3
        && Integer.parseInt(prefix) <= address.length * Byte.SIZE;
  }

  /**
   * Returns whether a text is a host name with letters. Digits and dots alone are a mistyped
   * address.
   */
  private static boolean isLongName(String text) {
    boolean lengths = text.length() <= MAX_NAME && !text.startsWith(".") && !text.contains("..");
    for (String label : text.split("\\.", -1)) {
      lengths &= label.length() <= MAX_LABEL;
    }
    return lengths && isName(text) && text.chars().anyMatch(c -> c != '.' && !isDigit(c));
  }

  public static boolean isAddress(String host) {
    return address(host) != null;
  }

  /** Returns the bytes of an IP address, or null for anything else, such as a name. */
  public static byte @Nullable [] address(String host) {
    InetAddress address = literal(host);
    return address == null ? null : address.getAddress();
  }

  private static @Nullable InetAddress literal(String host) {
    boolean v6 = host.indexOf(':') >= 0 && host.indexOf('[') < 0 && host.indexOf('%') < 0;
    if (!v6 && !isDottedQuad(host)) {
      return null;
    }
    try {
      return InetAddress.ofLiteral(host);
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  /**
   * Returns whether a text consists of four numbers. The JDK also accepts {@code 10.1}, which is
   * rejected here as a typing error.
   */
  private static boolean isDottedQuad(String text) {
    return text.chars().filter(c -> c == '.').count() == 3
        && text.chars().allMatch(c -> c == '.' || isDigit(c));
  }

  /** Returns the host of a target such as {@code http://[::1]:8000}, or null if it has none. */
  public static @Nullable String ofTarget(String target) {
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

  /** Returns the normal form of a host, or null if the text is not a host. */
  public static @Nullable String of(String host) {
    InetAddress address = literal(host);
    if (address != null) {
      return address.getHostAddress();
    }
    return isName(host) ? host.toLowerCase(Locale.ROOT) : null;
  }

  private static boolean isName(String host) {
    return !host.isEmpty()
        && host.chars()
            .allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || "-._".indexOf(c) >= 0));
  }

  private static boolean isPortOrNothing(String text, int from) {
    return from == text.length()
        || (text.charAt(from) == ':' && isDigits(text.substring(from + 1)));
  }

  private static boolean isDigits(String text) {
    return !text.isEmpty() && text.chars().allMatch(HostText::isDigit);
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }
}
