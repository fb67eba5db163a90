package io.inferspan.response;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All results of a tap. */
record Seen(
    List<Long> numbers, List<String> reasons, @Nullable String model, @Nullable String error) {

  static Seen of(ResponseTap tap) {
    return new Seen(
        List.of(
            tap.tokens(),
            tap.firstTokenNanos(),
            tap.lastTokenNanos(),
            tap.gapNanos(0.5),
            tap.maxGapNanos(),
            tap.promptTokens(),
            tap.completionTokens(),
            tap.cachedTokens(),
            tap.reasoningTokens(),
            tap.failed() ? 1L : 0L,
            tap.complete() ? 1L : 0L),
        tap.finishReasons(),
        tap.model(),
        tap.errorType());
  }

  /** Returns a tap that has seen a body in one piece. */
  static ResponseTap whole(String contentType, String body) {
    ResponseTap tap = ResponseTap.forContentType(contentType);
    tap.see(buffer(body), 7);
    return tap;
  }

  static ByteBuffer buffer(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }
}
