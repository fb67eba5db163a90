package io.inferspan.samples.desk.otlp;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
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

  /** Returns the id in these bytes; zero if there are not exactly sixteen. */
  static TraceId of(ByteString bytes) {
    ByteBuffer in = bytes.asReadOnlyByteBuffer();
    return bytes.size() == 2 * Long.BYTES
        ? new TraceId(in.getLong(), in.getLong())
        : new TraceId(0, 0);
  }

  /** Returns whether all digits are zero. */
  boolean isNone() {
    return high == 0 && low == 0;
  }

  /** Reads 32 hexadecimal digits; null for anything else. */
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
