package io.inferspan.propagation;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import org.jspecify.annotations.Nullable;

/**
 * Parses and formats the {@code traceparent} header.
 *
 * <pre>
 *  0  3                                36               53
 * 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
 *  version  trace id                  span id          flags
 * </pre>
 */
final class Traceparent {

  static final String NAME = "traceparent";

  static final int TRACE_ID = 3;
  static final int SPAN_ID = 36;
  static final int FLAGS = 53;
  static final int LENGTH = 55;

  /** The flags sampled and random-trace-id; W3C reserves the other bits. */
  private static final int KNOWN_FLAGS = 0x03;

  private Traceparent() {}

  /** Parses {@code header}; returns null if it is malformed or has an invalid id. */
  static @Nullable SpanContext parse(@Nullable String header, TraceState traceState) {
    if (header == null || !isWellFormed(header)) {
      return null;
    }
    int flags = hexByte(header, FLAGS);
    boolean sendable =
        header.length() == LENGTH && hexByte(header, 0) == 0 && (flags & ~KNOWN_FLAGS) == 0;
    return new HeaderSpanContext(header, sendable, (byte) (flags & KNOWN_FLAGS), traceState);
  }

  /** Returns the header for {@code context}, which must be valid. */
  static String format(SpanContext context) {
    if (context instanceof HeaderSpanContext remote && remote.sendable()) {
      return remote.header();
    }
    return "00-"
        + context.getTraceId()
        + "-"
        + context.getSpanId()
        + "-"
        + context.getTraceFlags().asHex();
  }

  private static boolean isWellFormed(String header) {
    return header.length() >= LENGTH
        && header.charAt(2) == '-'
        && header.charAt(SPAN_ID - 1) == '-'
        && header.charAt(FLAGS - 1) == '-'
        && hasKnownShape(header)
        && isNonZeroHex(header, TRACE_ID, SPAN_ID - 1)
        && isNonZeroHex(header, SPAN_ID, FLAGS - 1)
        && hexByte(header, FLAGS) >= 0;
  }

  /**
   * Returns whether the length is valid for the version: version 00 has a fixed length, later
   * versions may append fields, and ff is invalid.
   */
  private static boolean hasKnownShape(String header) {
    int version = hexByte(header, 0);
    if (version < 0 || version == 0xff) {
      return false;
    }
    return header.length() == LENGTH || (version > 0 && header.charAt(LENGTH) == '-');
  }

  private static boolean isNonZeroHex(String text, int from, int to) {
    int any = 0;
    for (int i = from; i < to; i++) {
      int digit = hexDigit(text.charAt(i));
      if (digit < 0) {
        return false;
      }
      any |= digit;
    }
    return any != 0;
  }

  private static int hexByte(String text, int at) {
    int high = hexDigit(text.charAt(at));
    int low = hexDigit(text.charAt(at + 1));
    return (high | low) < 0 ? -1 : (high << 4) | low;
  }

  private static int hexDigit(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }
}
