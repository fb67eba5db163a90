package io.inferspan.privacy;

import java.util.List;

/** How long a value may be. */
final class ValueBounds {

  static final int MAX_CHARS = 4_096;

  static final int MAX_ELEMENTS = 128;

  private ValueBounds() {}

  static boolean isWithin(Object value) {
    if (value instanceof String text) {
      return text.length() <= MAX_CHARS;
    }
    if (value instanceof List<?> list) {
      return list.size() <= MAX_ELEMENTS && list.stream().allMatch(ValueBounds::isWithin);
    }
    return isPlain(value);
  }

  /** Whether a value shows what is in it, as nested values and bytes do not. */
  static boolean isPlain(Object value) {
    return value instanceof String
        || value instanceof Long
        || value instanceof Double
        || value instanceof Boolean
        || value instanceof List<?>;
  }

  static String bounded(String text, int maxChars) {
    return text.length() <= maxChars ? text : text.substring(0, maxChars);
  }

  /** The value, cut where it is longer. */
  static Object bounded(Object value) {
    if (value instanceof String text && text.length() > MAX_CHARS) {
      return text.substring(0, MAX_CHARS);
    }
    if (value instanceof List<?> list) {
      return list.stream().limit(MAX_ELEMENTS).map(ValueBounds::bounded).toList();
    }
    return value;
  }
}
