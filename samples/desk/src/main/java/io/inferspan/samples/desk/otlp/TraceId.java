package io.inferspan.samples.desk.otlp;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The id of a trace.
 *
 * @param high its first sixteen digits
 * @param low its last sixteen digits
 */
public record TraceId(long high, long low) {

  private static final int DIGITS = 32;
  private static final HexFormat HEX = HexFormat.of();

  /** Whether it stands for no trace. */
  boolean isNone() {
    return high == 0 && low == 0;
  }

  /** Reads 32 hexadecimal digits; null where it is something else. */
  public static @Nullable TraceId parse(String text) {
    if (text.length() != DIGITS || !text.chars().allMatch(HexFormat::isHexDigit)) {
      return null;
    }
    return new TraceId(
        HexFormat.fromHexDigitsToLong(text, 0, DIGITS / 2),
        HexFormat.fromHexDigitsToLong(text, DIGITS / 2, DIGITS));
  }

  /** The 32 digits, in lower case. */
  @Override
  public String toString() {
    return HEX.toHexDigits(high) + HEX.toHexDigits(low);
  }
}
