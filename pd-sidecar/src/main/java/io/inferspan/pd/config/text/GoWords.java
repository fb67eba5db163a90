package io.inferspan.pd.config.text;

import java.util.ArrayList;
import java.util.List;

/** Booleans, whole numbers and lists, as Go's flag packages read them. */
public final class GoWords {

  private GoWords() {}

  /** One of the twelve spellings of a boolean. */
  public static boolean bool(String text) throws TextException {
    return switch (text) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      case "0", "f", "F", "false", "FALSE", "False" -> false;
      default -> throw new TextException("not a boolean");
    };
  }

  /** A decimal number with an optional sign. */
  public static long whole(String text) throws TextException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new TextException("not a whole number");
    }
  }

  /** The parts between commas, stripped, without the empty ones. */
  public static List<String> list(String text) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    while (start <= text.length()) {
      int comma = text.indexOf(',', start);
      int end = comma < 0 ? text.length() : comma;
      String part = text.substring(start, end).strip();
      if (!part.isEmpty()) {
        parts.add(part);
      }
      start = end + 1;
    }
    return parts;
  }
}
