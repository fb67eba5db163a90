package io.inferspan.pd.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.inferspan.pd.net.HeldBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One request of a client and its response.
 *
 * <p>It is used on its event loop only. Data written after the client has disconnected is dropped.
 */
public final class ClientExchange {
  private final ClientConnection connection;
  private final ChannelHandlerContext context;
  private final HttpRequest request;
  private final boolean old;
  private final ArrayDeque<HttpContent> held = new ArrayDeque<>(2);
  private @Nullable BodyListener body;
  private @Nullable Owner owner;
  private @Nullable Runnable whenWritable;
  private boolean requestEnded;
  private boolean answerBegun;
  private boolean answerEnded;
  private boolean gone;
  private boolean closesAfter;
  private boolean awaitsContinue;
  private boolean raw;
  private boolean chunked;
  private boolean bodyless;
  private boolean endsWithConnection;

  /**
   * Notified when a request is ended by the client or by a shutdown. At most one of the methods is
   * called, and only once.
   */
  public interface Owner {

    /** Called when the client disconnects before its response is complete. */
    void clientGone();

    /**
     * Called when the rest of the request cannot be parsed.
     *
     * @param status the status of the response, or 0 if the response has begun
     */
    void malformed(int status);

    /** Called when the proxy stops before the response is complete. */
    void cut();
  }

  ClientExchange(ClientConnection connection, HttpRequest request) {
    this.connection = connection;
    this.context = connection.context();
    this.request = request;
    // Stored, because the request may be changed before the response begins.
    this.old = request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0;
    this.awaitsContinue = HttpUtil.is100ContinueExpected(request);
    this.closesAfter = !HttpUtil.isKeepAlive(request);
  }

  /** Returns the request's head, which may be changed in place and forwarded. */
  public HttpRequest request() {
    return request;
  }

  public EventLoop loop() {
    return context.channel().eventLoop();
  }

  /** Returns the address of the client; empty if unknown. */
  public String clientAddress() {
    Channel own = context.channel();
    SocketAddress address =
        own.parent() == null || own.remoteAddress() instanceof InetSocketAddress
            ? own.remoteAddress()
            : own.parent().remoteAddress();
    return address instanceof InetSocketAddress internet && internet.getAddress() != null
        ? internet.getAddress().getHostAddress()
        : "";
  }

  /** Returns the index of the listener that accepted the request, from zero. */
  public int rank() {
    return connection.rank();
  }

  /** Sets the receiver of the body; buffered pieces are passed to it at once. */
  public void body(BodyListener listener) {
    body = listener;
    boolean any = !held.isEmpty();
    while (!held.isEmpty()) {
      deliver(listener, held.poll());
    }
    if (any) {
      listener.pause();
    }
    reading(true);
  }

  /** Requests the body that the client announced with {@code Expect: 100-continue}. */
  public void continueBody() {
    request.headers().remove(HttpHeaderNames.EXPECT);
    if (awaitsContinue && !requestEnded && !gone && !answerBegun) {
      sendNow(
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
    awaitsContinue = false;
  }

  public void reading(boolean on) {
    connection.reading(on);
  }

  /** Returns whether the client accepts more data without buffering here. */
  public boolean writable() {
    return context.channel().isWritable();
  }

  /** Sets an action for when a slow client accepts data again. */
  public void whenWritable(Runnable action) {
    whenWritable = action;
  }

  /** Sets the owner, which is notified if the request is ended by the client or by a shutdown. */
  public void ownedBy(Owner hearing) {
    owner = hearing;
  }

  public boolean answerBegun() {
    return answerBegun;
  }

  boolean answerEnded() {
    return answerEnded;
  }

  /**
   * Writes the response's head.
   *
   * <p>The framing is adapted to the client: without a length the body is chunked, or, for
   * HTTP/1.0, ended by closing the connection.
   */
  public void head(HttpResponse head) {
    if (gone || answerBegun) {
      return;
    }
    answerBegun = true;
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      raw = true;
      closesAfter = true;
      sendNow(head);
      connection.switchProtocol();
    } else {
      frame(head);
      context.write(head, context.voidPromise());
    }
  }

  private void frame(HttpResponse head) {
    HttpHeaders headers = head.headers();
    bodyless = bodyless(head.status());
    // The client may or may not send the body that was not requested, so the next bytes are
    // undefined.
    closesAfter |= awaitsContinue && !requestEnded;
    headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
    if (head.status().equals(HttpResponseStatus.RESET_CONTENT)) {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, HttpHeaderValues.ZERO);
    } else if (!bodyless && !headers.contains(HttpHeaderNames.CONTENT_LENGTH)) {
      if (old) {
        closesAfter = true;
        endsWithConnection = true;
      } else {
        headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        chunked = true;
      }
    }
    head.setProtocolVersion(HttpVersion.HTTP_1_1);
    if (closesAfter) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (old) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
  }

  private boolean bodyless(HttpResponseStatus status) {
    return HttpMethod.HEAD.equals(request.method())
        || status.code() == HttpResponseStatus.NO_CONTENT.code()
        || status.code() == HttpResponseStatus.RESET_CONTENT.code()
        || status.code() == HttpResponseStatus.NOT_MODIFIED.code();
  }

  /** Writes a piece of the response's body and takes ownership of it. */
  public void write(ByteBuf content) {
    if (gone || answerEnded || bodyless) {
      content.release();
    } else if (chunked && content.readableBytes() <= ChunkFrame.MAX_BYTES) {
      ChunkFrame.write(content, context, connection.encoder());
    } else if (raw) {
      context.write(content, context.voidPromise());
    } else {
      context.write(new DefaultHttpContent(content), HeldBody.untilWritten(content, context));
    }
  }

  private void sendNow(Object part) {
    context.writeAndFlush(part, context.voidPromise());
  }

  public void flush() {
    context.flush();
  }

  public void end(HttpHeaders trailers) {
    if (gone || answerEnded) {
      return;
    }
    answerEnded = true;
    releaseHeld();
    if (!raw) {
      sendNow(
          trailers.isEmpty()
              ? LastHttpContent.EMPTY_LAST_CONTENT
              : new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, trailers));
    }
    connection.answered(this);
  }

  public void respond(HttpResponseStatus status, HttpHeaders headers, ByteBuf content) {
    if (gone || answerBegun) {
      content.release();
      return;
    }
    answerBegun = true;
    answerEnded = true;
    releaseHeld();
    if (bodyless(status)) {
      content.clear();
    } else {
      headers.set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
    }
    DefaultFullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, status, content, headers, EmptyHttpHeaders.INSTANCE);
    frame(answer);
    context.writeAndFlush(answer, HeldBody.untilWritten(content, context));
    connection.answered(this);
  }

  /**
   * Truncates the response in a way that the client can detect: resets the HTTP/2 stream, or closes
   * the connection before the response is complete. A connection whose end would look like the end
   * of the response is reset.
   */
  public void abort() {
    if (!gone && !answerEnded) {
      answerEnded = true;
      owner = null;
      connection.breakOff(endsWithConnection);
    }
  }

  public void closeAfter() {
    closesAfter = true;
  }

  boolean closesAfter() {
    return closesAfter;
  }

  boolean requestEnded() {
    return requestEnded;
  }

  void content(HttpContent content) {
    if (answerEnded) {
      requestEnded |= content instanceof LastHttpContent;
      content.release();
    } else if (body == null) {
      requestEnded |= content instanceof LastHttpContent;
      held.add(content);
      reading(requestEnded);
    } else {
      deliver(body, content);
    }
  }

  private void deliver(BodyListener listener, HttpContent content) {
    if (content.content().isReadable()) {
      listener.content(content.content());
    } else {
      content.release();
    }
    if (content instanceof LastHttpContent last) {
      requestEnded = true;
      listener.end(last.trailingHeaders());
    }
  }

  /** Receives bytes after a protocol upgrade. */
  void raw(ByteBuf bytes) {
    if (body == null || answerEnded) {
      bytes.release();
    } else {
      body.content(bytes);
    }
  }

  /** Rejects a request that cannot be read to its end. */
  void refuse(HttpResponseStatus status) {
    closesAfter = true;
    malformed(answerBegun ? 0 : status.code());
    if (answerBegun) {
      connection.breakOff(false);
    } else {
      HttpHeaders headers =
          new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
      byte[] sentence = RequestFault.sentence(status).getBytes(US_ASCII);
      respond(status, headers, Unpooled.wrappedBuffer(sentence));
    }
  }

  /** Ends the exchange at a shutdown; returns whether a response was truncated. */
  boolean cut() {
    Owner hearing = takeOwner();
    if (hearing == null || gone) {
      return false;
    }
    hearing.cut();
    return true;
  }

  /** Handles a violation of HTTP; the client gets {@code status} if it can still be sent. */
  void malformed(int status) {
    Owner hearing = takeOwner();
    if (hearing != null) {
      hearing.malformed(status);
    }
  }

  /** Removes and returns the owner, which is notified only once; null if the response has ended. */
  private @Nullable Owner takeOwner() {
    Owner hearing = answerEnded ? null : owner;
    owner = null;
    return hearing;
  }

  void pause() {
    if (body != null && !answerEnded) {
      body.pause();
    }
  }

  void nowWritable() {
    if (whenWritable != null && !answerEnded) {
      whenWritable.run();
    }
  }

  /** Releases the part of the body that was not taken. */
  private void releaseHeld() {
    held.forEach(HttpContent::release);
    held.clear();
  }

  void clientGone() {
    gone = true;
    releaseHeld();
    Owner hearing = takeOwner();
    if (hearing != null) {
      hearing.clientGone();
    }
  }
}
