package io.inferspan.pd.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses booleans, sizes, lists and durations as Go's flag packages do. Malformed text causes an
 * {@link IllegalArgumentException}.
 */
final class GoWords {

  private static final Pattern PART =
      Pattern.compile("(?=\\.?[0-9])([0-9]*)(?:\\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)");
  private static final int DOUBLE_DIGITS = 6;

  private GoWords() {}

  /** Parses one of the twelve spellings of a boolean. */
  static boolean bool(String text) {
    return switch (text) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      case "0", "f", "F", "false", "FALSE", "False" -> false;
      default -> throw new IllegalArgumentException("not a boolean");
    };
  }

  /** Parses a number of bytes: {@code 65536}, {@code 64KiB}, {@code 64MiB} or {@code 1GiB}. */
  static long bytes(String text) {
    int unitAt = text.endsWith("iB") ? text.length() - 3 : -1;
    int scale = unitAt < 0 ? 0 : "KMG".indexOf(text.charAt(unitAt)) + 1;
    String number = scale == 0 ? text : text.substring(0, unitAt);
    try {
      return Math.multiplyExact(Long.parseLong(number.strip()), 1L << (10 * scale));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("the size is too large");
    }
  }

  /** Splits a text at commas; strips the parts and drops empty ones. */
  static List<String> list(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }

  /**
   * Parses a duration: an optional sign, then decimal numbers with a unit, such as {@code 1m30s}.
   */
  static Duration duration(String text) {
    boolean signed = text.startsWith("-") || text.startsWith("+");
    String parts = signed ? text.substring(1) : text;
    try {
      long nanos = parts.equals("0") ? 0 : nanos(parts);
      return Duration.ofNanos(text.startsWith("-") ? -nanos : nanos);
    } catch (ArithmeticException _) {
      throw new IllegalArgumentException("the duration is too long");
    }
  }

  private static long nanos(String parts) {
    Matcher part = PART.matcher(parts);
    long nanos = 0;
    do {
      if (!part.lookingAt()) {
        throw new IllegalArgumentException("not a duration");
      }
      long unit = unit(part.group(3));
      nanos = Math.addExact(nanos, Math.multiplyExact(Long.parseLong("0" + part.group(1)), unit));
      nanos = Math.addExact(nanos, fraction(part.group(2), unit));
      part.region(part.end(), parts.length());
    } while (part.regionStart() < parts.length());
    return nanos;
  }

  /** Returns the digits after the point in nanoseconds, rounded like the doubles of Go. */
  private static long fraction(@Nullable String digits, long unit) {
    return new BigDecimal(digits == null ? "0" : "0." + digits)
        .multiply(BigDecimal.valueOf(unit))
        .setScale(DOUBLE_DIGITS, RoundingMode.HALF_UP)
        .longValue();
  }

  private static long unit(String name) {
    return switch (name) {
      case "ns" -> 1L;
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      default -> 1_000L;
    };
  }
}
