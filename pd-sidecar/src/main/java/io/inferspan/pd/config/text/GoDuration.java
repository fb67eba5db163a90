package io.inferspan.pd.config.text;

import java.time.Duration;

/** A duration as Go writes it: signed decimal numbers, each with a unit, such as {@code 1m30s}. */
public final class GoDuration {

  private final String text;
  private int at;
  private long nanos;

  private GoDuration(String text) {
    this.text = text;
  }

  /** Reads {@code text}, to the nanosecond. */
  public static Duration parse(String text) throws TextException {
    try {
      return Duration.ofNanos(new GoDuration(text).read());
    } catch (ArithmeticException e) {
      throw new TextException("too long a duration");
    }
  }

  private long read() throws TextException {
    boolean negative = text.startsWith("-");
    at = negative || text.startsWith("+") ? 1 : 0;
    if (text.substring(at).equals("0")) {
      return 0;
    }
    do {
      part();
    } while (at < text.length());
    return negative ? -nanos : nanos;
  }

  private void part() throws TextException {
    int start = at;
    long whole = digits();
    int wholeDigits = at - start;
    int fractionStart = at + 1;
    if (peek() == '.') {
      at++;
      skipDigits();
    }
    int fractionEnd = at;
    if (wholeDigits + Math.max(0, fractionEnd - fractionStart) == 0) {
      throw new TextException("not a duration");
    }
    long unit = unit();
    add(Math.multiplyExact(whole, unit));
    add(fraction(fractionStart, fractionEnd, unit));
  }

  private void add(long more) {
    nanos = Math.addExact(nanos, more);
  }

  private long digits() {
    long value = 0;
    while (isDigit(peek())) {
      value = Math.addExact(Math.multiplyExact(value, 10L), peek() - '0');
      at++;
    }
    return value;
  }

  private void skipDigits() {
    while (isDigit(peek())) {
      at++;
    }
  }

  /** The digits after the point, in nanoseconds, cut off where a long has no more room. */
  private long fraction(int start, int end, long unit) {
    long value = 0;
    double scale = 1;
    for (int i = start; i < end && value <= (Long.MAX_VALUE - 9) / 10; i++) {
      value = value * 10 + (text.charAt(i) - '0');
      scale *= 10;
    }
    return (long) (value * (unit / scale));
  }

  private long unit() throws TextException {
    int start = at;
    while (at < text.length() && peek() != '.' && !isDigit(peek())) {
      at++;
    }
    return switch (text.substring(start, at)) {
      case "ns" -> 1L;
      case "us", "µs", "μs" -> 1_000L;
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      case "h" -> 3_600_000_000_000L;
      case "" -> throw new TextException("a number without a unit");
      default -> throw new TextException("an unknown unit");
    };
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
