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
 * One request to an engine and its answer, which a subclass takes as it comes in.
 *
 * <p>All of it happens on one event loop: the client's. {@link #ended} or {@link #failed} is called
 * last, and once, unless the call was cancelled.
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
   * A call that is yet to start.
   *
   * @param replayable whether the request may be sent again if an idle connection proves dead
   */
  protected EngineCall(boolean replayable) {
    this.replayable = replayable;
  }

  /**
   * Called when the connection is open and the request is to be written; again if it is replayed.
   */
  protected abstract void connected();

  /** Takes status and headers; those of interim answers (1xx) are not passed. */
  protected abstract void head(HttpResponse head);

  /** Takes a piece of the body, to release it or to pass it on. */
  protected abstract void content(ByteBuf content);

  /** Called when there is no more to read for now: flush what was passed on. */
  protected void pause() {}

  /** The answer is complete. */
  protected abstract void ended(HttpHeaders trailers);

  /** The answer will not be completed. */
  protected abstract void failed(UpstreamFailure failure);

  /** The connection takes more of the request again. */
  protected void drained() {}

  /** Writes the request's head; to be flushed. */
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

  /** Writes a piece of the request's body and takes it over. */
  public final void write(ByteBuf content) {
    if (connection == null) {
      content.release();
    } else {
      connection.write(raw ? content : new DefaultHttpContent(content));
    }
  }

  /** The same, with what runs once the bytes have left or cannot leave any more. */
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

  /** Stops or resumes reading the answer, so that a slow client does not fill memory. */
  protected final void reading(boolean on) {
    if (connection != null && !finished) {
      connection.reading(on);
    }
  }

  /** Gives the call up: the connection is closed, and nothing more is taken. */
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

  /** The trace that the request belongs to, for logs; empty for none. */
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

  /** The proxy itself failed over the call, which ends it. */
  final void fault(Throwable cause) {
    fail(
        cause instanceof OutOfMemoryError
            ? UpstreamFailure.noRoom()
            : new UpstreamFailure(UpstreamFailure.Kind.INTERNAL, "the proxy failed"));
  }
}
