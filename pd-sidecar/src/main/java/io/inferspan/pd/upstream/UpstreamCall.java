package io.inferspan.pd.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * One request to an engine and its answer.
 *
 * <p>All of it happens on one event loop: the client's.
 */
public final class UpstreamCall {
  private final ResponseListener listener;
  private final boolean replayable;
  private @Nullable UpstreamConnection connection;
  private boolean finished;
  private boolean upgrading;
  private boolean raw;

  UpstreamCall(ResponseListener listener, boolean replayable) {
    this.listener = listener;
    this.replayable = replayable;
  }

  /** Writes the request's head; to be flushed. */
  public void send(HttpRequest head) {
    upgrading = head.headers().contains(HttpHeaderNames.UPGRADE);
    if (connection != null) {
      if (!head.headers().contains(HttpHeaderNames.HOST)) {
        head.headers().set(HttpHeaderNames.HOST, connection.target().authority());
      }
      connection.write(head);
    }
  }

  /** Writes a piece of the request's body and takes it over. */
  public void write(ByteBuf content) {
    if (connection == null) {
      content.release();
    } else {
      connection.write(raw ? content : new DefaultHttpContent(content));
    }
  }

  /** Writes the end of the request. */
  public void finish(HttpHeaders trailers) {
    if (connection != null) {
      HttpContent last = LastHttpContent.EMPTY_LAST_CONTENT;
      if (!trailers.isEmpty()) {
        last = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, trailers);
      }
      connection.write(last);
      connection.requestSent();
    }
  }

  /** Hands what was written to the socket. */
  public void flush() {
    if (connection != null) {
      connection.flush();
    }
  }

  /** Whether the connection takes more without piling it up. */
  public boolean writable() {
    return connection != null && connection.writable();
  }

  /** Stops or goes on reading the answer, so that a slow client does not fill memory. */
  public void reading(boolean on) {
    if (connection != null && !finished) {
      connection.reading(on);
    }
  }

  /** Gives the call up: the connection is closed, and the listener hears no more. */
  public void cancel() {
    if (!finished) {
      finished = true;
      if (connection != null) {
        connection.close();
      }
    }
  }

  /** Whether the request asks for another protocol on this connection. */
  boolean upgrading() {
    return upgrading;
  }

  /** What is written from now on goes out as it is. */
  void switched() {
    raw = true;
  }

  boolean cancelled() {
    return finished;
  }

  /** Whether the request may be sent again over a new connection when an idle one proves dead. */
  boolean replayable() {
    return replayable;
  }

  void connected(UpstreamConnection connection) {
    this.connection = connection;
    listener.ready(this);
  }

  ResponseListener listener() {
    return listener;
  }

  void ended(HttpHeaders trailers) {
    if (!finished) {
      finished = true;
      connection = null;
      listener.end(trailers);
    }
  }

  /** The listener itself failed: it is told, so that its client does not wait for ever. */
  void faulted() {
    failed(new UpstreamException(UpstreamException.Kind.INTERNAL, "the proxy failed"));
  }

  void failed(UpstreamException failure) {
    if (!finished) {
      finished = true;
      connection = null;
      listener.failed(failure);
    }
  }
}
