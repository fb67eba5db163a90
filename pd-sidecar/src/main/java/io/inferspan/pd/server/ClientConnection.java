package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 connection of a client, or one HTTP/2 stream.
 *
 * <p>It answers one request at a time; pipelined requests wait in its {@link Decoder}.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter
    implements HttpListener.Connection {
  private static final int MAX_DRAINED_BYTES = 256 * 1024;
  private static final int MAX_PART_BYTES = 64 * 1024;
  private static final int MAX_AHEAD_BYTES = 16 * 1024;

  private final Consumer<ClientExchange> handler;
  private final int rank;
  private @Nullable ChannelHandlerContext context;

  /** Null for an HTTP/2 stream, and after a protocol upgrade. */
  private @Nullable Decoder decoder;

  private @Nullable ChannelHandlerContext encoder;
  private @Nullable ClientExchange current;
  private final ReadingPause pause = new ReadingPause();
  private int drainedBytes;
  private boolean wanted = true;
  private boolean draining;
  private boolean broken;
  private final HttpListener.Activity activity = new HttpListener.Activity();

  ClientConnection(HttpListener.Settings settings) {
    this.handler = settings.handler();
    this.rank = settings.rank();
  }

  /** Sets up a channel for HTTP/1.1. */
  static ClientConnection install(Channel channel, HttpListener.Settings settings) {
    ClientConnection connection = new ClientConnection(settings);
    Decoder decoder = connection.new Decoder(settings.headerBytes());
    connection.decoder = decoder;
    channel.pipeline().addLast(decoder, new HttpResponseEncoder(), connection);
    return connection;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    this.context = context;
    this.encoder = context.pipeline().context(HttpResponseEncoder.class);
  }

  @Override
  public Channel channel() {
    return context().channel();
  }

  ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("the connection is not in a pipeline yet");
    }
    return context;
  }

  int rank() {
    return rank;
  }

  /** Returns the context whose writes bypass the encoder; null if there is no encoder. */
  @Nullable ChannelHandlerContext encoder() {
    return encoder;
  }

  @Override
  public HttpListener.Activity activity() {
    return activity;
  }

  @Override
  public void drain() {
    draining = true;
    if (current == null) {
      // If the client still reads its last response, pipelined requests may be unread.
      ChannelOutboundBuffer output = channel().unsafe().outboundBuffer();
      ConnectionEnd.gentle(over(), output == null || output.totalPendingWriteBytes() == 0);
    } else {
      current.closeAfter();
    }
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
    if (decoder == null || !on) {
      autoRead(on);
    } else if (!decoder.decoding) { // otherwise, the decoder does it after decoding
      autoRead(!decoder.isFull());
    }
  }

  private void autoRead(boolean on) {
    channel().config().setAutoRead(on);
    if (wanted) {
      pause.end();
    } else {
      // If only pipelined data pauses reading, there are no probes, which would have to store it.
      pause.begin(context());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object part) {
    if (part instanceof ByteBufHolder content) {
      pause.read(content.content().readableBytes());
    }
    if (part instanceof HttpObject object && !broken) {
      take(object);
    } else if (part instanceof ByteBuf bytes && !broken && current != null) {
      current.raw(bytes);
    } else {
      ReferenceCountUtil.release(part);
    }
  }

  /** Returns whether the next request can be handled: not if the client reads no responses. */
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

  private boolean begin(HttpRequest head) {
    HttpResponseStatus fault = RequestFault.of(head);
    if (fault != null) {
      refuse(head, fault);
      return false;
    }
    ClientExchange exchange = new ClientExchange(this, Http2Connection.bare(head));
    current = exchange;
    activity.begins();
    drainedBytes = 0;
    if (draining) {
      exchange.closeAfter();
    }
    handler.accept(exchange);
    return true;
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
      decoder.goOn();
    }
    if (current != null) {
      current.pause();
    }
  }

  /** Responds once to data that is not HTTP, and closes: nothing after it can be trusted. */
  private void refuse(HttpObject object, HttpResponseStatus status) {
    ReferenceCountUtil.release(object);
    broken = true;
    if (current == null) {
      HttpRequest unread = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
      current = new ClientExchange(this, unread);
    }
    current.refuse(status);
  }

  /** Upgrades the connection: from now on, raw bytes are passed in both directions. */
  void switchProtocol() {
    Decoder leaving = decoder;
    channel().pipeline().remove(HttpResponseEncoder.class);
    if (leaving != null) {
      channel().pipeline().remove(leaving);
      decoder = null;
    }
    reading(true);
  }

  /** Truncates a response in a way that the client can detect. */
  void breakOff(boolean byReset) {
    ConnectionEnd.breakOff(over(), byReset);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    pause.readOn();
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
    pause.end();
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

  /**
   * Decodes one request at a time. A pipelined request stays undecoded until the response to the
   * previous one is complete; too many undecoded bytes pause reading.
   */
  private final class Decoder extends HttpRequestDecoder {
    private boolean decoding;
    private boolean blocked;

    Decoder(int headerBytes) {
      super(
          new HttpDecoderConfig()
              .setMaxInitialLineLength(MAX_PART_BYTES)
              .setMaxHeaderSize(headerBytes)
              .setMaxChunkSize(MAX_PART_BYTES));
      setCumulator(this::joined);
    }

    /**
     * Copies pipelined bytes into a buffer of exactly their size: Netty's cumulation keeps decoded
     * bytes and doubles its buffer. The copy is small, because reading stops at a limit.
     */
    private ByteBuf joined(ByteBufAllocator allocator, ByteBuf ahead, ByteBuf more) {
      if (ready() || !ahead.isReadable() || !more.isReadable()) {
        return MERGE_CUMULATOR.cumulate(allocator, ahead, more);
      }
      try {
        return allocator
            .buffer(ahead.readableBytes() + more.readableBytes())
            .writeBytes(ahead)
            .writeBytes(more);
      } finally {
        ahead.release();
        more.release();
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) throws Exception {
      if (part instanceof ByteBuf bytes && !ready()) {
        pause.read(bytes.readableBytes());
      }
      decoding = true;
      try {
        super.channelRead(context, part);
      } finally {
        decoding = false;
      }
      autoRead(wanted && !isFull());
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      if (broken) {
        in.skipBytes(in.readableBytes());
        return;
      }
      blocked = !ready();
      if (!blocked) {
        super.decode(context, in, out);
      }
    }

    /** Decodes pipelined bytes, unless decoding is in progress. */
    void goOn() {
      if (decoding || actualReadableBytes() == 0) {
        return;
      }
      ChannelHandlerContext context = channel().pipeline().context(this);
      try {
        channelRead(context, Unpooled.EMPTY_BUFFER);
      } catch (Exception e) {
        context.fireExceptionCaught(e);
      }
    }

    /** Returns whether the limit of pipelined bytes is reached. */
    boolean isFull() {
      // If decoding is not blocked, the bytes belong to the current request, and may exceed the
      // limit.
      return blocked && actualReadableBytes() > MAX_AHEAD_BYTES;
    }

    /** Prevents Netty from continuing to read after a read without a decodable message. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
      if (ready()) {
        super.channelReadComplete(context);
      } else {
        discardSomeReadBytes();
        context.fireChannelReadComplete();
      }
    }
  }
}
