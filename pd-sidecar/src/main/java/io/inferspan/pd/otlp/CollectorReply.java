package io.inferspan.pd.otlp;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * A whole answer of a collector.
 *
 * @param status the HTTP status
 * @param message the HTTP status in words, if any came
 * @param headers what came before the body
 * @param trailers what came after it
 * @param body the body
 * @param truncated whether there was more of a body than is allowed
 */
record CollectorReply(
    int status,
    @Nullable String message,
    MultiMap headers,
    MultiMap trailers,
    Buffer body,
    boolean truncated) {

  /** A header, or a trailer where there is no such header. */
  @Nullable String field(String name) {
    String header = headers.get(name);
    return header != null ? header : trailers.get(name);
  }
}
