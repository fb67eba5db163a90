package io.inferspan.extproc;

import java.nio.charset.StandardCharsets;

/** A string as JSON writes it. */
final class JsonString {

  /** No model name is longer; it bounds what is kept of a client's input. */
  static final int MAX_BYTES = 1024;

  private static final int UNICODE_DIGITS = 4;

  private JsonString() {}

  /** The text between the quotes at the ends of the range; empty where it is no string. */
  static String decode(byte[] json, int start, int end) {
    boolean quoted = end - start >= 2 && json[start] == '"' && json[end - 1] == '"';
    if (!quoted || end - start > MAX_BYTES) {
      return "";
    }
    String raw = new String(json, start + 1, end - start - 2, StandardCharsets.UTF_8);
    return raw.indexOf('\\') < 0 ? raw : unescaped(raw);
  }

  /** The text with quotes around it, as UTF-8. */
  static byte[] encode(String text) {
    StringBuilder json = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String unescaped(String raw) {
    StringBuilder text = new StringBuilder(raw.length());
    int at = 0;
    while (at < raw.length()) {
      char c = raw.charAt(at++);
      if (c != '\\' || at == raw.length()) {
        text.append(c);
        continue;
      }
      char escape = raw.charAt(at++);
      if (escape == 'u' && at + UNICODE_DIGITS <= raw.length()) {
        text.append(unicode(raw, at));
        at += UNICODE_DIGITS;
      } else {
        text.append(plain(escape));
      }
    }
    return text.toString();
  }

  private static char plain(char escape) {
    return switch (escape) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> escape;
    };
  }

  private static char unicode(String raw, int from) {
    int value = 0;
    for (int i = from; i < from + UNICODE_DIGITS; i++) {
      value = value << 4 | Math.max(0, Character.digit(raw.charAt(i), 16));
    }
    return (char) value;
  }
}
