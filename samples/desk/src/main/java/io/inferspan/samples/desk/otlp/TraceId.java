package io.inferspan.samples.desk.otlp;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The id of a trace.
 *
 * @param high the first sixteen hexadecimal digits
 * @param low the last sixteen hexadecimal digits
 */
public record TraceId(long high, long low) {

  private static final int DIGITS = 32;
  private static final HexFormat HEX = HexFormat.of();

  /** Returns the trace id; zero if it is not sixteen bytes long. */
  static TraceId of(ByteString bytes) {
    ByteBuffer in = bytes.asReadOnlyByteBuffer();
    return bytes.size() == 2 * Long.BYTES
        ? new TraceId(in.getLong(), in.getLong())
        : new TraceId(0, 0);
  }

  /** Returns whether the id is zero, which OTLP does not allow. */
  boolean isNone() {
    return high == 0 && low == 0;
  }

  /** Parses 32 hexadecimal digits; returns null for other text. */
  public static @Nullable TraceId parse(String text) {
    if (text.length() != DIGITS || !text.chars().allMatch(HexFormat::isHexDigit)) {
      return null;
    }
    return new TraceId(
        HexFormat.fromHexDigitsToLong(text, 0, DIGITS / 2),
        HexFormat.fromHexDigitsToLong(text, DIGITS / 2, DIGITS));
  }

  /** Returns the 32 hexadecimal digits in lower case. */
  @Override
  public String toString() {
    return HEX.toHexDigits(high) + HEX.toHexDigits(low);
  }
}
