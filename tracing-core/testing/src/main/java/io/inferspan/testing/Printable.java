package io.inferspan.testing;

import java.util.Locale;

/**
 * Makes text safe to print. Span names and attribute values may contain terminal escapes, line
 * breaks or direction marks.
 */
public final class Printable {
  private Printable() {}

  /** Returns the text with control, format and separator characters escaped. */
  public static String of(String text) {
    if (text.codePoints().noneMatch(Printable::isUnsafe)) {
      return text;
    }
    StringBuilder safe = new StringBuilder(text.length() + 16);
    text.codePoints().forEach(c -> append(safe, c));
    return safe.toString();
  }

  /** Returns the text, truncated to {@code maxChars} characters and then escaped. */
  public static String of(String text, int maxChars) {
    if (text.length() <= maxChars) {
      return of(text);
    }
    int end = Character.isHighSurrogate(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
    return of(text.substring(0, end)) + "…";
  }

  /** Returns bytes as ASCII; all other bytes become {@code \xNN}. */
  public static String of(byte[] bytes, int from, int to) {
    StringBuilder safe = new StringBuilder();
    for (int i = Math.max(0, from); i < Math.min(bytes.length, to); i++) {
      boolean plain = bytes[i] >= ' ' && bytes[i] < 0x7f;
      safe.append(plain ? String.valueOf((char) bytes[i]) : hex("\\x%02x", bytes[i] & 0xff));
    }
    return safe.toString();
  }

  private static void append(StringBuilder safe, int c) {
    switch (c) {
      case '\n' -> safe.append("\\n");
      case '\r' -> safe.append("\\r");
      case '\t' -> safe.append("\\t");
      default -> {
        if (isUnsafe(c)) {
          safe.append(hex(c > 0xffff ? "\\u{%x}" : "\\u%04x", c));
        } else {
          safe.appendCodePoint(c);
        }
      }
    }
  }

  private static boolean isUnsafe(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  private static String hex(String format, int value) {
    return String.format(Locale.ROOT, format, value);
  }
}
