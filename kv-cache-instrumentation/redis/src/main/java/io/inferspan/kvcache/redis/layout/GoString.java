package io.inferspan.kvcache.redis.layout;

/** Writes text as Go's {@code encoding/json} does, since holders are compared byte for byte. */
final class GoString {

  private static final String HEX = "0123456789abcdef";
  private static final char LINE_SEPARATOR = '\u2028';
  private static final char PARAGRAPH_SEPARATOR = '\u2029';

  private GoString() {}

  /** Appends {@code text} in quotes. */
  static void append(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        out.append(c).append(text.charAt(++i));
      } else {
        append(out, c);
      }
    }
    out.append('"');
  }

  private static void append(StringBuilder out, char c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\b' -> out.append("\\b");
      case '\f' -> out.append("\\f");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      // Go escapes characters that are special in HTML and JavaScript.
      case '<', '>', '&', LINE_SEPARATOR, PARAGRAPH_SEPARATOR -> escape(out, c);
      default -> {
        if (c < ' ') {
          escape(out, c);
        } else if (Character.isSurrogate(c)) {
          // Go replaces an unpaired surrogate with the replacement character.
          out.append("\\ufffd");
        } else {
          out.append(c);
        }
      }
    }
  }

  private static void escape(StringBuilder out, char c) {
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) {
      out.append(HEX.charAt((c >> shift) & 0xf));
    }
  }
}
