package io.inferspan.ebpf.context;

import io.inferspan.ebpf.wire.Owner;
import io.opentelemetry.api.trace.SpanContext;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The ids of a span context as numbers, together with the context, so that it is not parsed again.
 * Parses eight hexadecimal digits at a time.
 */
final class SpanIds {

  private static final VarHandle DIGITS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final int TRACE_DIGITS = 32;
  private static final int SPAN_DIGITS = 16;

  private final byte[] digits = new byte[TRACE_DIGITS + SPAN_DIGITS];
  private @Nullable SpanContext context;
  private long traceIdHigh;
  private long traceIdLow;
  private long spanId;
  private long owner;

  @SuppressWarnings("ReferenceEquality") // another object with equal ids is parsed again
  boolean isOf(SpanContext other) {
    return context == other;
  }

  void read(SpanContext fresh) {
    context = null;
    read(fresh.getTraceId(), fresh.getSpanId());
    owner = Owner.ofSpan(traceIdHigh, traceIdLow, spanId);
    context = fresh;
  }

  /** Reads ids, which consist of lower-case hexadecimal digits. */
  @SuppressWarnings("deprecation") // copies the low bytes, and digits are ASCII
  void read(String trace, String span) {
    trace.getBytes(0, TRACE_DIGITS, digits, 0);
    span.getBytes(0, SPAN_DIGITS, digits, TRACE_DIGITS);
    traceIdHigh = sixteenDigits(0);
    traceIdLow = sixteenDigits(TRACE_DIGITS / 2);
    spanId = sixteenDigits(TRACE_DIGITS);
  }

  private long sixteenDigits(int from) {
    return eightDigits((long) DIGITS.get(digits, from)) << Integer.SIZE
        | eightDigits((long) DIGITS.get(digits, from + Long.BYTES));
  }

  /** Converts eight digits. A digit's value is its low four bits, plus nine for a letter. */
  private static long eightDigits(long ascii) {
    long values = (ascii & 0x0f0f0f0f0f0f0f0fL) + 9 * (ascii >>> 6 & 0x0101010101010101L);
    values = (values | values >>> 4) & 0x00ff00ff00ff00ffL;
    values = (values | values >>> 8) & 0x0000ffff0000ffffL;
    return (values | values >>> 16) & 0xffffffffL;
  }

  long traceIdHigh() {
    return traceIdHigh;
  }

  long traceIdLow() {
    return traceIdLow;
  }

  long spanId() {
    return spanId;
  }

  /** Returns the owner number of this span in the kernel's events. */
  long owner() {
    return owner;
  }
}
