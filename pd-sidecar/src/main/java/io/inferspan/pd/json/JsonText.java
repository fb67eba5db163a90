package io.inferspan.pd.json;

import java.nio.charset.StandardCharsets;

/** The text of a valid JSON string, given what stands between its quotes. */
final class JsonText {
  private JsonText() {}

  static boolean hasEscape(byte[] json, int from, int to) {
    for (int i = from; i < to; i++) {
      if (json[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  static String decode(byte[] json, int from, int to) {
    String raw = new String(json, from, to - from, StandardCharsets.UTF_8);
    int escape = raw.indexOf('\\');
    return escape < 0 ? raw : unescape(raw, escape);
  }

  private static String unescape(String raw, int firstEscape) {
    StringBuilder text = new StringBuilder(raw.length());
    int copied = 0;
    int escape = firstEscape;
    while (escape >= 0) {
      text.append(raw, copied, escape);
      char escaped = raw.charAt(escape + 1);
      copied = escape + 2;
      if (escaped == 'u') {
        text.append((char) Integer.parseInt(raw, copied, copied + 4, 16));
        copied += 4;
      } else {
        text.append(unescape(escaped));
      }
      escape = raw.indexOf('\\', copied);
    }
    return text.append(raw, copied, raw.length()).toString();
  }

  private static char unescape(char escaped) {
    return switch (escaped) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> escaped;
    };
  }
}
