package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;

/** Takes the body of one request as it comes in. */
public interface BodyListener {

  /** A piece of the body, which the listener must release or pass on. */
  void content(ByteBuf content);

  /** Called when there is no more to read for now: flush what was passed on. */
  default void pause() {}

  /** The body is complete. */
  void end(HttpHeaders trailers);
}
