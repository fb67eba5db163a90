package io.inferspan.pd.config.text;

import java.util.Arrays;
import java.util.List;

/**
 * Parses booleans, sizes and lists as Go's flag packages do; a malformed text is an {@link
 * IllegalArgumentException}.
 */
public final class GoWords {

  private GoWords() {}

  /** Parses one of the twelve spellings of a boolean. */
  public static boolean bool(String text) {
    return switch (text) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      case "0", "f", "F", "false", "FALSE", "False" -> false;
      default -> throw new IllegalArgumentException("not a boolean");
    };
  }

  /** Parses a number of bytes: {@code 65536}, {@code 64KiB}, {@code 64MiB} or {@code 1GiB}. */
  public static long bytes(String text) {
    int unitAt = text.endsWith("iB") ? text.length() - 3 : -1;
    int scale = unitAt < 0 ? 0 : "KMG".indexOf(text.charAt(unitAt)) + 1;
    String number = scale == 0 ? text : text.substring(0, unitAt);
    try {
      return Math.multiplyExact(Long.parseLong(number.strip()), 1L << (10 * scale));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("too large a size");
    }
  }

  /** Splits a text at commas; strips the parts and drops empty ones. */
  public static List<String> list(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }
}
