package io.inferspan.gateway;

import io.inferspan.response.ResponseTap;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Observes a response while the gateway forwards it. */
final class Answer {

  private static final String STREAM = "text/event-stream";

  private final boolean stream;
  private final ResponseTap tap;
  private boolean begun;

  private Answer(boolean stream, ResponseTap tap) {
    this.stream = stream;
    this.tap = tap;
  }

  static Answer of(@Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    ResponseTap tap = ResponseTap.forHeaders(contentType, contentEncoding);
    String type = contentType == null ? "" : contentType.toString().strip();
    return new Answer(tap.isSeeing() && type.toLowerCase(Locale.ROOT).startsWith(STREAM), tap);
  }

  /**
   * Inspects a piece. Returns true if it contains the first token or, without a stream, the first
   * byte.
   */
  boolean see(ByteBuffer bytes, long nowNanos) {
    tap.see(bytes, nowNanos);
    boolean readable = stream && (tap.isSeeing() || tap.hasFirstToken());
    boolean here = readable ? tap.hasFirstToken() : bytes.hasRemaining();
    boolean first = here && !begun;
    begun |= here;
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
