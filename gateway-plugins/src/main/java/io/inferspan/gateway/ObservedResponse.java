package io.inferspan.gateway;

import io.inferspan.response.ResponseTap;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A response that is observed while the gateway forwards it. */
final class ObservedResponse {

  private static final String STREAM = "text/event-stream";

  private final boolean stream;
  private final ResponseTap tap;
  private boolean begun;

  private ObservedResponse(boolean stream, ResponseTap tap) {
    this.stream = stream;
    this.tap = tap;
  }

  static ObservedResponse of(
      @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    ResponseTap tap = ResponseTap.forHeaders(contentType, contentEncoding);
    String type = contentType == null ? "" : contentType.toString().strip();
    boolean stream = type.toLowerCase(Locale.ROOT).startsWith(STREAM);
    return new ObservedResponse(tap.isSeeing() && stream, tap);
  }

  /**
   * Inspects a piece of the body. Returns whether it contains the first token or, without a stream,
   * the first byte.
   */
  boolean see(ByteBuffer bytes, long nowNanos) {
    tap.see(bytes, nowNanos);
    boolean readable = stream && (tap.isSeeing() || tap.hasFirstToken());
    boolean arrived = readable ? tap.hasFirstToken() : bytes.hasRemaining();
    boolean first = arrived && !begun;
    begun |= arrived;
    return first;
  }

  /** Returns whether a stream contains an error. */
  boolean failedWithin() {
    return stream && tap.failed();
  }

  ResponseTap tap() {
    return tap;
  }
}
