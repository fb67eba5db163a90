package io.inferspan.pd.config.text;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A duration as Go writes it: signed decimal numbers, each with a unit, such as {@code 1m30s}. */
public final class GoDuration {
  private static final Pattern PART =
      Pattern.compile("(?=\\.?[0-9])([0-9]*)(?:\\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)");
  private static final int MAX_DIGITS = 18;

  private GoDuration() {}

  /**
   * Parses {@code text} with nanosecond precision.
   *
   * @throws IllegalArgumentException if it is no duration, or too long
   */
  public static Duration parse(String text) {
    boolean signed = text.startsWith("-") || text.startsWith("+");
    String parts = signed ? text.substring(1) : text;
    try {
      long nanos = parts.equals("0") ? 0 : nanos(parts);
      return Duration.ofNanos(text.startsWith("-") ? -nanos : nanos);
    } catch (ArithmeticException _) {
      throw new IllegalArgumentException("too long a duration");
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

  /** Returns the digits after the point in nanoseconds, rounded as in Go. */
  private static long fraction(@Nullable String digits, long unit) {
    if (digits == null) {
      return 0;
    }
    int count = Math.min(digits.length(), MAX_DIGITS);
    return (long) (Long.parseLong("0" + digits.substring(0, count)) * (unit / Math.pow(10, count)));
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
