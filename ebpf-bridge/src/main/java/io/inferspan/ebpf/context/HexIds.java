package io.inferspan.ebpf.context;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Parses OpenTelemetry's hexadecimal ids into numbers, eight digits at a time. */
final class HexIds {

  private static final VarHandle DIGITS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final int TRACE_DIGITS = 32;
  private static final int SPAN_DIGITS = 16;

  private final byte[] digits = new byte[TRACE_DIGITS + SPAN_DIGITS];

  /** Reads the ids, which consist of lower-case digits. */
  @SuppressWarnings("deprecation") // copies the low bytes, and digits are ASCII
  void read(String traceId, String spanId) {
    traceId.getBytes(0, TRACE_DIGITS, digits, 0);
    spanId.getBytes(0, SPAN_DIGITS, digits, TRACE_DIGITS);
  }

  long traceIdHigh() {
    return sixteen(0);
  }

  long traceIdLow() {
    return sixteen(TRACE_DIGITS / 2);
  }

  long spanId() {
    return sixteen(TRACE_DIGITS);
  }

  private long sixteen(int from) {
    return half((long) DIGITS.get(digits, from)) << Integer.SIZE
        | half((long) DIGITS.get(digits, from + Long.BYTES));
  }

  /** Converts eight digits. A digit's value is its low four bits, plus nine for a letter. */
  private static long half(long ascii) {
    long values = (ascii & 0x0f0f0f0f0f0f0f0fL) + 9 * (ascii >>> 6 & 0x0101010101010101L);
    values = (values | values >>> 4) & 0x00ff00ff00ff00ffL;
    values = (values | values >>> 8) & 0x0000ffff0000ffffL;
    return (values | values >>> 16) & 0xffffffffL;
  }
}
