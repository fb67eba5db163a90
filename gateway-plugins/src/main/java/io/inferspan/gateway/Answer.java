package io.inferspan.gateway;

import io.inferspan.response.ResponseTap;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An answer as it passes. */
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

  /** Looks at a piece; true where what the client waits for has come with it for the first time. */
  boolean see(ByteBuffer bytes, long nowNanos) {
    tap.see(bytes, nowNanos);
    boolean here = stream ? tap.hasFirstToken() : bytes.hasRemaining();
    boolean first = here && !begun;
    begun |= here;
    return first;
  }

  /** Whether a stream carries an error that its status, sent before, says nothing of. */
  boolean failedWithin() {
    return stream && tap.failed();
  }

  ResponseTap tap() {
    return tap;
  }
}
