package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 connection of a client, or one HTTP/2 stream.
 *
 * <p>It answers one request after the other: what a pipelining client sends ahead waits, and a
 * little of it stops the reading.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter
    implements OpenConnections.Member {
  private static final int MAX_AHEAD = 64;
  private static final int MAX_DRAINED_BYTES = 256 * 1024;

  private final RequestHandler handler;
  private final int rank;
  private final ArrayDeque<HttpObject> ahead = new ArrayDeque<>(0);
  private @Nullable ChannelHandlerContext context;
  private @Nullable ChannelHandlerContext codec;
  private @Nullable ClientExchange current;
  private @Nullable ReadingPause pause;
  private int drainedBytes;
  private boolean draining;
  private boolean advancing;
  private boolean broken;
  private volatile long quietSince = System.nanoTime();
  private volatile boolean servedAny;

  ClientConnection(RequestHandler handler, int rank) {
    this.handler = handler;
    this.rank = rank;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    this.context = context;
    this.codec = context.pipeline().context(HttpServerCodec.class);
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
  public long quietSinceNanos() {
    return quietSince;
  }

  @Override
  public boolean servedAny() {
    return servedAny;
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

  /** Writes a small piece of a chunked body, past the codec where there is one. */
  void writeChunk(ByteBuf piece) {
    ChannelHandlerContext beforeCodec = codec;
    if (beforeCodec == null || !piece.isReadable()) {
      write(new DefaultHttpContent(piece));
    } else {
      beforeCodec.write(ChunkFrame.around(piece, channel().alloc()), beforeCodec.voidPromise());
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

  void reading(boolean on) {
    if (channel().config().isAutoRead() != on) {
      channel().config().setAutoRead(on);
      endPause();
      pause = on ? null : new ReadingPause(context());
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
    if (pause != null) {
      pause.read(part);
    }
    if (broken) {
      ReferenceCountUtil.release(part);
    } else if (part instanceof ByteBuf bytes) {
      takeRaw(bytes);
    } else if (ahead.isEmpty() && ready()) {
      take((HttpObject) part);
    } else {
      ahead.add((HttpObject) part);
      if (ahead.size() >= MAX_AHEAD) {
        reading(false);
      }
    }
  }

  /** Whether what comes next can be dealt with; a client that takes no answers gets no more. */
  private boolean ready() {
    return current == null ? channel().isWritable() : !current.requestEnded();
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

  /** Takes bytes of a connection that has left HTTP behind. */
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
    quietSince = 0;
    if (!servedAny) {
      servedAny = true;
    }
    drainedBytes = 0;
    if (draining) {
      exchange.closeAfter();
    }
    handler.handle(exchange);
    return true;
  }

  /** An HTTP/2 request without a body comes in one piece, which cannot be sent on as a head. */
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
      settle(exchange);
    }
  }

  /** An answer is complete; its request may not be. */
  void answered(ClientExchange exchange) {
    settle(exchange);
  }

  private void settle(ClientExchange exchange) {
    if (current != exchange) {
      return;
    }
    if (exchange.closesAfter() || (!exchange.requestEnded() && drainedBytes > MAX_DRAINED_BYTES)) {
      ConnectionEnd.gentle(over(), exchange.requestEnded());
    } else if (exchange.requestEnded()) {
      current = null;
      quietSince = System.nanoTime();
      advance();
    } else {
      reading(true);
    }
  }

  /** Serves nothing more on this connection. */
  private ChannelHandlerContext over() {
    broken = true;
    releaseAhead();
    return context();
  }

  /** Serves what came ahead, without recursion where answers come at once. */
  private void advance() {
    if (advancing) {
      return;
    }
    advancing = true;
    while (!ahead.isEmpty() && ready()) {
      take(ahead.poll());
    }
    advancing = false;
    if (current == null || current.requestEnded()) {
      reading(ahead.size() < MAX_AHEAD);
    }
    if (current != null) {
      current.pause();
    }
  }

  /** Answers what is not HTTP, once, and closes: nothing after it can be trusted. */
  private void refuse(HttpObject object, HttpResponseStatus status) {
    ReferenceCountUtil.release(object);
    broken = true;
    releaseAhead();
    ClientExchange exchange = current;
    if (exchange == null) {
      HttpRequest unread = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
      exchange = new ClientExchange(this, unread);
      current = exchange;
    }
    exchange.refuse(status);
  }

  /** Leaves HTTP behind: after {@code head} there are only bytes, both ways. */
  void switchProtocol(HttpResponse head) {
    writeAndFlush(head);
    releaseAhead();
    channel().pipeline().remove(HttpServerCodec.class);
    reading(true);
  }

  /** Ends an answer before its end, in a way that the client can see. */
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
    releaseAhead();
    ClientExchange exchange = current;
    current = null;
    if (exchange != null) {
      exchange.clientGone();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A reset or a protocol error: the exchange hears of it when the channel is inactive, but not
    // there that an HTTP/2 stream broke the rules.
    if (cause instanceof Http2Exception && current != null) {
      current.malformed(0);
    }
    context.close();
  }

  private void releaseAhead() {
    ahead.forEach(ReferenceCountUtil::release);
    ahead.clear();
  }
}
