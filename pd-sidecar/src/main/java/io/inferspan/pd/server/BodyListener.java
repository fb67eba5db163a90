package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;

/** Receives the body of one request. */
public interface BodyListener {

  /** Receives a piece of the body, which the listener must release or pass on. */
  void content(ByteBuf content);

  /** Called when there is no more to read for now: flush what was passed on. */
  default void pause() {}

  void end(HttpHeaders trailers);
}
