package io.inferspan.pd.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;

/**
 * Takes one answer as it comes in, on the event loop of the call.
 *
 * <p>{@link #end} or {@link #failed} is the last thing it hears, and it hears one of them once,
 * unless the call was cancelled.
 */
public interface ResponseListener {

  /**
   * The connection stands and the request is to be written; told a second time where the first
   * connection proved dead and the call is replayable.
   */
  void ready(UpstreamCall call);

  /** Status and headers; interim answers (1xx) are not told. */
  void head(HttpResponse head);

  /** A piece of the body, which the listener must release or pass on. */
  void content(ByteBuf content);

  /** For now there is no more to read: the time to flush what was passed on. */
  void pause();

  /** The answer is complete. */
  void end(HttpHeaders trailers);

  /** The answer will not be completed. */
  void failed(UpstreamException failure);

  /** The connection takes more of the request again. */
  default void writable() {}
}
