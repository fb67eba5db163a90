package io.inferspan.pd.config.text;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A duration as Go writes it: signed decimal numbers, each with a unit, such as {@code 1m30s}. */
public final class GoDuration {
  private static final Pattern PART =
      Pattern.compile("([0-9]*)(?:\\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)");

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
    int at = 0;
    do {
      if (!part.find(at) || part.start() != at) {
        throw new IllegalArgumentException("not a duration");
      }
      String whole = part.group(1);
      String fraction = part.group(2) == null ? "" : part.group(2);
      if (whole.isEmpty() && fraction.isEmpty()) {
        throw new IllegalArgumentException("not a duration");
      }
      long unit = unit(part.group(3));
      nanos = Math.addExact(nanos, Math.multiplyExact(whole(whole), unit));
      nanos = Math.addExact(nanos, fraction(fraction, unit));
      at = part.end();
    } while (at < parts.length());
    return nanos;
  }

  private static long whole(String digits) {
    return digits.isEmpty() ? 0 : Long.parseLong(digits);
  }

  /** Returns the digits after the point in nanoseconds, cut off where a long has no more room. */
  private static long fraction(String digits, long unit) {
    long value = 0;
    double scale = 1;
    for (int i = 0; i < digits.length() && value <= (Long.MAX_VALUE - 9) / 10; i++) {
      value = value * 10 + (digits.charAt(i) - '0');
      scale *= 10;
    }
    return (long) (value * (unit / scale));
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
