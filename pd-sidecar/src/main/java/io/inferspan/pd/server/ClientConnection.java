package io.inferspan.pd.server;

import io.inferspan.pd.net.HeldBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 connection of a client, or one HTTP/2 stream.
 *
 * <p>It answers one request at a time; pipelined requests wait in its {@link RequestDecoder}.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter
    implements HttpListener.Connection {
  private static final int MAX_DRAINED_BYTES = 256 * 1024;

  private final Consumer<ClientExchange> handler;
  private final int rank;
  private @Nullable ChannelHandlerContext context;
  private @Nullable ChannelHandlerContext decoder;
  private @Nullable ChannelHandlerContext encoder;
  private @Nullable ClientExchange current;
  private @Nullable ReadingPause pause;
  private int drainedBytes;
  private boolean wanted = true;
  private boolean draining;
  private boolean broken;
  private final HttpListener.Activity activity = new HttpListener.Activity();

  ClientConnection(Consumer<ClientExchange> handler, int rank) {
    this.handler = handler;
    this.rank = rank;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    this.context = context;
    this.decoder = context.pipeline().context(RequestDecoder.class);
    this.encoder = context.pipeline().context(HttpResponseEncoder.class);
  }

  @Override
  public Channel channel() {
    return context().channel();
  }

  private ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("the connection is not in a pipeline yet");
    }
    return context;
  }

  int rank() {
    return rank;
  }

  String clientAddress() {
    Channel own = channel();
    SocketAddress address =
        own.parent() == null || own.remoteAddress() instanceof InetSocketAddress
            ? own.remoteAddress()
            : own.parent().remoteAddress();
    return address instanceof InetSocketAddress internet && internet.getAddress() != null
        ? internet.getAddress().getHostAddress()
        : "";
  }

  @Override
  public HttpListener.Activity activity() {
    return activity;
  }

  @Override
  public void drain() {
    draining = true;
    if (current == null) {
      close();
    } else {
      current.closeAfter();
    }
  }

  void write(Object part) {
    context().write(part, context().voidPromise());
  }

  /** Writes a piece of a body; held bytes stay counted until they are written. */
  void writeBody(HttpContent part) {
    context().write(part, untilWritten(part));
  }

  /** Writes a whole response; held bytes stay counted until they are written. */
  void writeAnswer(FullHttpResponse answer) {
    context().writeAndFlush(answer, untilWritten(answer));
  }

  /** Keeps held bytes counted until they are written; TLS releases plain text earlier. */
  private ChannelPromise untilWritten(HttpContent part) {
    HeldBody held = HeldBody.of(part.content());
    if (held == null) {
      return context().voidPromise();
    }
    held.retain();
    return context().newPromise().addListener(_ -> held.release());
  }

  /** Writes a small piece of a chunked body, bypassing the encoder if there is one. */
  void writeChunk(ByteBuf piece) {
    ChannelHandlerContext past = encoder;
    if (past == null || !piece.isReadable()) {
      write(new DefaultHttpContent(piece));
    } else {
      past.write(ChunkFrame.around(piece, channel().alloc()), past.voidPromise());
    }
  }

  void writeAndFlush(Object part) {
    context().writeAndFlush(part, context().voidPromise());
  }

  void flush() {
    context().flush();
  }

  @Override
  public void close() {
    context().close();
  }

  @Override
  public void cut() {
    if (current == null || !current.cut()) {
      close();
    }
  }

  /** Stops or resumes reading; pipelined data may keep it stopped. */
  void reading(boolean on) {
    wanted = on;
    RequestDecoder decoding = decoder == null ? null : (RequestDecoder) decoder.handler();
    if (decoding == null || !on) {
      autoRead(on);
    } else if (!decoding.decoding()) {
      decoded(decoding.isFull());
    }
  }

  /** Called after decoding; {@code full} means that no more pipelined data is accepted. */
  void decoded(boolean full) {
    autoRead(wanted && !full);
  }

  private void autoRead(boolean on) {
    channel().config().setAutoRead(on);
    if (wanted) {
      endPause();
    } else if (pause == null) {
      // Only here: probes that read pipelined data would have to store it.
      pause = new ReadingPause(context());
    }
  }

  private void endPause() {
    if (pause != null) {
      pause.end();
      pause = null;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object part) {
    if (pause != null && part instanceof ByteBufHolder content) {
      pause.read(content.content().readableBytes());
    }
    if (broken) {
      ReferenceCountUtil.release(part);
    } else if (part instanceof ByteBuf bytes) {
      takeRaw(bytes);
    } else {
      take((HttpObject) part);
    }
  }

  /**
   * Returns whether the next request can be handled; a client that does not read responses must
   * wait.
   */
  boolean ready() {
    return current == null ? channel().isWritable() : !current.requestEnded();
  }

  /** Returns whether no further request is served on this connection. */
  boolean isBroken() {
    return broken;
  }

  /** Records bytes that were read and cannot be handled yet. */
  void readAhead(int bytes) {
    if (pause != null) {
      pause.read(bytes);
    }
  }

  private void take(HttpObject object) {
    if (object.decoderResult().isFailure()) {
      refuse(object, RequestFault.of(object.decoderResult().cause()));
      return;
    }
    if (object instanceof HttpRequest head && !begin(head)) {
      return;
    }
    if (object instanceof HttpContent content) {
      takeContent(content);
    }
  }

  /** Receives bytes after a protocol upgrade. */
  private void takeRaw(ByteBuf bytes) {
    if (current == null) {
      bytes.release();
    } else {
      current.raw(bytes);
    }
  }

  private boolean begin(HttpRequest head) {
    HttpResponseStatus fault = RequestFault.of(head);
    if (fault != null) {
      refuse(head, fault);
      return false;
    }
    ClientExchange exchange = new ClientExchange(this, bare(head));
    current = exchange;
    activity.begins();
    drainedBytes = 0;
    if (draining) {
      exchange.closeAfter();
    }
    handler.accept(exchange);
    return true;
  }

  /** Returns only the head. An HTTP/2 request without a body arrives as one full message. */
  private static HttpRequest bare(HttpRequest head) {
    return head instanceof FullHttpRequest
        ? new DefaultHttpRequest(head.protocolVersion(), head.method(), head.uri(), head.headers())
        : head;
  }

  private void takeContent(HttpContent content) {
    ClientExchange exchange = current;
    if (exchange == null || broken) {
      content.release();
      return;
    }
    if (exchange.answerEnded()) {
      drainedBytes += content.content().readableBytes();
    }
    exchange.content(content);
    if (exchange.answerEnded()) {
      answered(exchange);
    }
  }

  /** Called when a response is complete; its request may not be. */
  void answered(ClientExchange exchange) {
    if (current != exchange) {
      return;
    }
    if (exchange.closesAfter() || (!exchange.requestEnded() && drainedBytes > MAX_DRAINED_BYTES)) {
      ConnectionEnd.gentle(over(), exchange.requestEnded());
    } else if (exchange.requestEnded()) {
      current = null;
      activity.ends();
      reading(true);
      advance();
    } else {
      reading(true);
    }
  }

  /** Stops serving requests on this connection. */
  private ChannelHandlerContext over() {
    broken = true;
    return context();
  }

  private void advance() {
    if (decoder != null) {
      ((RequestDecoder) decoder.handler()).goOn(decoder);
    }
    if (current != null) {
      current.pause();
    }
  }

  /** Responds once to data that is not HTTP, and closes: nothing after it can be trusted. */
  private void refuse(HttpObject object, HttpResponseStatus status) {
    ReferenceCountUtil.release(object);
    broken = true;
    ClientExchange exchange = current;
    if (exchange == null) {
      HttpRequest unread = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
      exchange = new ClientExchange(this, unread);
      current = exchange;
    }
    exchange.refuse(status);
  }

  /** Upgrades the connection: after {@code head}, raw bytes are passed in both directions. */
  void switchProtocol(HttpResponse head) {
    writeAndFlush(head);
    channel().pipeline().remove(HttpResponseEncoder.class);
    channel().pipeline().remove(RequestDecoder.class);
    decoder = null;
    reading(true);
  }

  /** Truncates a response in a way that the client can detect. */
  void breakOff(boolean byReset) {
    if (byReset) {
      ConnectionEnd.reset(over());
    } else {
      ConnectionEnd.brokenOff(over());
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (pause != null) {
      pause.readOn();
    }
    if (current != null) {
      current.pause();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (context.channel().isWritable()) {
      if (current == null) {
        advance();
      } else {
        current.nowWritable();
      }
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    broken = true;
    endPause();
    ClientExchange exchange = current;
    current = null;
    if (exchange != null) {
      exchange.clientGone();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A violation of HTTP/2 is only visible here. A reset also makes the channel inactive.
    if (cause instanceof Http2Exception && current != null) {
      current.malformed(0);
    }
    context.close();
  }
}
