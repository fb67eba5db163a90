package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.TraceId;
import org.jspecify.annotations.Nullable;

/** How an id begins, as numbers: a search compares it with every request's. */
record Prefix(long high, long low, long highMask, long lowMask) {

  private static final int HEX_DIGITS = 32;
  private static final int BITS_PER_DIGIT = 4;
  private static final int LETTERS_PER_LONG = 8;

  /** Reads up to 32 hexadecimal digits; null where it is something else. */
  static @Nullable Prefix ofTraceId(String text) {
    if (text.isEmpty() || text.length() > HEX_DIGITS) {
      return null;
    }
    TraceId digits = TraceId.parse(text + "0".repeat(HEX_DIGITS - text.length()));
    return digits == null ? null : of(digits.high(), digits.low(), BITS_PER_DIGIT * text.length());
  }

  /** The first sixteen letters of another id; whether more agree must be looked at. */
  static Prefix ofLetters(String text) {
    return of(letters(text, 0), letters(text, LETTERS_PER_LONG), Byte.SIZE * text.length());
  }

  private static Prefix of(long high, long low, int bits) {
    return new Prefix(high, low, mask(bits), mask(bits - Long.SIZE));
  }

  /** A number whose first bits are set. */
  private static long mask(int bits) {
    return bits <= 0 ? 0 : -1L << Math.max(0, Long.SIZE - bits);
  }

  /** Eight letters of a text, whatever their case, from there on. */
  static long letters(String text, int from) {
    long packed = 0;
    for (int i = from; i < from + LETTERS_PER_LONG; i++) {
      char letter = i < text.length() ? text.charAt(i) : 0;
      int folded = Character.toLowerCase(Character.toUpperCase(letter));
      packed = packed << Byte.SIZE | (folded & 0xff);
    }
    return packed;
  }

  boolean begins(long idHigh, long idLow) {
    return ((idHigh ^ high) & highMask) == 0 && ((idLow ^ low) & lowMask) == 0;
  }
}
