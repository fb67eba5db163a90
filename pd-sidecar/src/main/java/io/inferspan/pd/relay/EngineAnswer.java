package io.inferspan.pd.relay;

import io.inferspan.pd.upstream.UpstreamException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * A whole answer of an engine.
 *
 * @param status the HTTP status; 502 where the engine gave no answer
 * @param headers the headers, without those for one hop
 * @param body the body
 * @param failure why there was no answer, or null where there was one
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once, never compared
public record EngineAnswer(
    int status, HttpHeaders headers, byte[] body, @Nullable UpstreamException failure) {
  private static final int FIRST_SUCCESS = 200;
  private static final int FIRST_BEYOND = 300;

  /** What stands for the answer of an engine that gave none. */
  public static EngineAnswer none(UpstreamException failure) {
    return new EngineAnswer(
        HttpResponseStatus.BAD_GATEWAY.code(), new DefaultHttpHeaders(), new byte[0], failure);
  }

  /** Whether the status says that it worked. */
  public boolean ok() {
    return status >= FIRST_SUCCESS && status < FIRST_BEYOND;
  }
}
