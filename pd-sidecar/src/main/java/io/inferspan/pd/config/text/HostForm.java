package io.inferspan.pd.config.text;

import java.net.InetAddress;

/** Checks whether a text is a host name, an IP address or a CIDR block, without resolving it. */
public final class HostForm {

  private HostForm() {}

  /** A host name, an address or a block of addresses, without scheme and port. */
  public static boolean isTarget(String text) {
    int slash = text.indexOf('/');
    return slash < 0 ? isHost(text) : isBlock(text.substring(0, slash), text.substring(slash + 1));
  }

  /** A host name or an address, without scheme and port. */
  private static boolean isHost(String text) {
    return isAddress(text) || isName(text);
  }

  private static boolean isBlock(String address, String prefix) {
    if (!isAddress(address) || prefix.isEmpty() || prefix.length() > 3) {
      return false;
    }
    int bits = 0;
    for (int i = 0; i < prefix.length(); i++) {
      int digit = prefix.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return false;
      }
      bits = bits * 10 + digit;
    }
    return bits <= (address.indexOf(':') < 0 ? 32 : 128);
  }

  /** An IP address, written out. */
  public static boolean isAddress(String text) {
    boolean v6 = text.indexOf(':') >= 0 && text.indexOf('[') < 0;
    if (!v6 && !isDottedQuad(text)) {
      return false;
    }
    try {
      return InetAddress.ofLiteral(text) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** The JDK also takes {@code 10.1} for an address, which is a typing error here. */
  private static boolean isDottedQuad(String text) {
    int dots = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '.') {
        dots++;
      } else if (c < '0' || c > '9') {
        return false;
      }
    }
    return dots == 3;
  }

  private static boolean isName(String text) {
    int label = 0;
    boolean letters = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '.' && label == 0) {
        return false;
      }
      if (c != '.' && !isNameCharacter(c)) {
        return false;
      }
      label = c == '.' ? 0 : label + 1;
      letters |= c != '.' && (c < '0' || c > '9');
      if (label > 63) {
        return false;
      }
    }
    return letters && text.length() <= 253;
  }

  private static boolean isNameCharacter(char c) {
    boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }
}
