package io.inferspan.pd.upstream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * A request to an engine and its response, which a subclass receives in pieces.
 *
 * <p>It runs on the client's event loop. {@link #ended} or {@link #failed} is called last, and
 * once, unless the call was cancelled.
 */
public abstract class EngineCall {
  private static final int TRACE_ID_START = 3;
  private static final int TRACE_ID_END = 35;

  private final boolean replayable;
  private @Nullable UpstreamConnection connection;
  private boolean finished;
  private boolean upgrading;
  private @Nullable String traceparent;
  private boolean raw;

  /**
   * Creates a call that has not started.
   *
   * @param replayable whether the request may be sent again if an idle connection turns out to be
   *     dead
   */
  protected EngineCall(boolean replayable) {
    this.replayable = replayable;
  }

  /**
   * Called when the connection is open and the request is to be written; again if it is replayed.
   */
  protected abstract void connected();

  /** Receives status and headers; interim responses (1xx) are not passed. */
  protected abstract void head(HttpResponse head);

  /** Receives a piece of the body, and must release it or pass it on. */
  protected abstract void content(ByteBuf content);

  /** Called when there is no more to read for now: flush what was passed on. */
  protected void pause() {}

  /** Called when the response is complete. */
  protected abstract void ended(HttpHeaders trailers);

  /** Called when the response will not be completed. */
  protected abstract void failed(UpstreamFailure failure);

  /** Called when the connection accepts more of the request again. */
  protected void drained() {}

  /** Writes the request's head; call {@link #flush} to send it. */
  public final void send(HttpRequest head) {
    traceparent = head.headers().get("traceparent");
    upgrading = head.headers().contains(HttpHeaderNames.UPGRADE);
    if (connection != null) {
      if (!head.headers().contains(HttpHeaderNames.HOST)) {
        head.headers().set(HttpHeaderNames.HOST, connection.target().authority());
      }
      connection.write(head);
    }
  }

  /** Writes a piece of the request's body and takes ownership of it. */
  public final void write(ByteBuf content) {
    if (connection == null) {
      content.release();
    } else {
      connection.write(raw ? content : new DefaultHttpContent(content));
    }
  }

  /**
   * Writes a piece of the request's body; {@code written} runs when the write has succeeded or
   * failed.
   */
  public final void write(ByteBuf content, Runnable written) {
    if (connection == null) {
      content.release();
      written.run();
    } else {
      connection.write(new DefaultHttpContent(content), written);
    }
  }

  /** Writes the end of the request. */
  public final void finish(HttpHeaders trailers) {
    if (connection != null) {
      HttpContent last = LastHttpContent.EMPTY_LAST_CONTENT;
      if (!trailers.isEmpty()) {
        last = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, trailers);
      }
      connection.write(last);
      connection.requestSent();
    }
  }

  /** Flushes written data to the socket. */
  public final void flush() {
    if (connection != null) {
      connection.flush();
    }
  }

  /** Returns whether the connection accepts more without buffering. */
  public final boolean writable() {
    return connection != null && connection.writable();
  }

  /** Stops or resumes reading the response, so that a slow client does not fill memory. */
  protected final void reading(boolean on) {
    if (connection != null && !finished) {
      connection.reading(on);
    }
  }

  /** Cancels the call: the connection is closed, and nothing more is received. */
  public void cancel() {
    if (!finished) {
      finished = true;
      if (connection != null) {
        connection.close();
      }
    }
  }

  /** Returns whether the request asks to upgrade this connection to another protocol. */
  final boolean upgrading() {
    return upgrading;
  }

  /** Switches to raw bytes for all further writes. */
  final void switched() {
    raw = true;
  }

  /** Returns the trace id, for logs; empty for none. */
  final String traceId() {
    return traceparent == null || traceparent.length() < TRACE_ID_END
        ? ""
        : traceparent.substring(TRACE_ID_START, TRACE_ID_END);
  }

  final boolean cancelled() {
    return finished;
  }

  final boolean replayable() {
    return replayable;
  }

  final void begin(UpstreamConnection on) {
    connection = on;
    connected();
  }

  final void end(HttpHeaders trailers) {
    if (!finished) {
      finished = true;
      connection = null;
      ended(trailers);
    }
  }

  final void fail(UpstreamFailure failure) {
    if (!finished) {
      finished = true;
      connection = null;
      failed(failure);
    }
  }

  /** Ends the call after an internal error of the proxy. */
  final void fault(Throwable cause) {
    fail(
        cause instanceof OutOfMemoryError
            ? UpstreamFailure.noRoom()
            : new UpstreamFailure(UpstreamFailure.Kind.INTERNAL, "the proxy failed"));
  }
}
