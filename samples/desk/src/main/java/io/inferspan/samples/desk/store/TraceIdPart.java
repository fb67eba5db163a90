package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.TraceId;
import org.jspecify.annotations.Nullable;

/**
 * A part of a trace id to search for. It is compared as a number, because a search checks the id of
 * every request.
 *
 * @param high the first 16 digits, left-aligned in the number
 * @param low the remaining digits, left-aligned
 */
record TraceIdPart(long high, long low, int digits) {

  private static final int HEX_DIGITS = 32;
  private static final int BITS_PER_DIGIT = 4;

  /** Parses up to 32 hexadecimal digits; returns null for other text. */
  static @Nullable TraceIdPart parse(String text) {
    if (text.length() > HEX_DIGITS) {
      return null;
    }
    TraceId digits = TraceId.parse(text + "0".repeat(HEX_DIGITS - text.length()));
    return digits == null ? null : new TraceIdPart(digits.high(), digits.low(), text.length());
  }

  /** Returns whether the id contains these digits. */
  boolean isIn(long idHigh, long idLow) {
    long highMask = mask(BITS_PER_DIGIT * digits);
    long lowMask = mask(BITS_PER_DIGIT * digits - Long.SIZE);
    long restHigh = idHigh;
    long restLow = idLow;
    for (int at = 0; at + digits <= HEX_DIGITS; at++) {
      if (((restHigh ^ high) & highMask) == 0 && ((restLow ^ low) & lowMask) == 0) {
        return true;
      }
      restHigh = restHigh << BITS_PER_DIGIT | restLow >>> (Long.SIZE - BITS_PER_DIGIT);
      restLow <<= BITS_PER_DIGIT;
    }
    return false;
  }

  /** Returns a number whose first bits are set. */
  private static long mask(int bits) {
    return bits <= 0 ? 0 : -1L << Math.max(0, Long.SIZE - bits);
  }
}
