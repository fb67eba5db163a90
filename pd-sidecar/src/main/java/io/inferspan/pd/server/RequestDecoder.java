package io.inferspan.pd.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.util.List;

/**
 * Decodes one request at a time. A pipelined request stays undecoded until the response to the
 * previous one is complete; too many undecoded bytes pause reading.
 */
final class RequestDecoder extends HttpRequestDecoder {
  private static final int MAX_LINE_BYTES = 64 * 1024;
  private static final int MAX_CONTENT_BYTES = 64 * 1024;
  private static final int MAX_AHEAD_BYTES = 16 * 1024;

  private final ClientConnection connection;
  private boolean decoding;
  private boolean blocked;

  private RequestDecoder(HttpDecoderConfig config, ClientConnection connection) {
    super(config);
    this.connection = connection;
    setCumulator(this::joined);
  }

  /** Sets up a channel for HTTP/1.1. */
  static ClientConnection install(Channel channel, HttpListener.Settings settings) {
    ClientConnection connection = new ClientConnection(settings.handler(), settings.rank());
    HttpDecoderConfig decoding =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE_BYTES)
            .setMaxHeaderSize(settings.headerBytes())
            .setMaxChunkSize(MAX_CONTENT_BYTES);
    channel
        .pipeline()
        .addLast(new RequestDecoder(decoding, connection), new HttpResponseEncoder(), connection);
    return connection;
  }

  /**
   * Copies pipelined bytes into a buffer of exactly their size: Netty's cumulation keeps decoded
   * bytes and doubles its buffer. The copy is small, because reading stops at a limit.
   */
  private ByteBuf joined(ByteBufAllocator allocator, ByteBuf ahead, ByteBuf more) {
    if (connection.ready() || !ahead.isReadable() || !more.isReadable()) {
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
    if (part instanceof ByteBuf bytes && !connection.ready()) {
      connection.readAhead(bytes.readableBytes());
    }
    decoding = true;
    try {
      super.channelRead(context, part);
    } finally {
      decoding = false;
    }
    connection.decoded(isFull());
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    if (connection.isBroken()) {
      in.skipBytes(in.readableBytes());
      return;
    }
    blocked = !connection.ready();
    if (!blocked) {
      super.decode(context, in, out);
    }
  }

  /** Decodes pipelined bytes, unless decoding is in progress. */
  void goOn(ChannelHandlerContext context) {
    if (decoding || actualReadableBytes() == 0) {
      return;
    }
    try {
      channelRead(context, Unpooled.EMPTY_BUFFER);
    } catch (Exception e) {
      context.fireExceptionCaught(e);
    }
  }

  /** Returns whether decoding is in progress; {@link ClientConnection#decoded} follows. */
  boolean decoding() {
    return decoding;
  }

  /** Returns whether the limit of pipelined bytes is reached. */
  boolean isFull() {
    // If decoding is not blocked, the bytes belong to the current request, and may exceed the
    // limit.
    return blocked && actualReadableBytes() > MAX_AHEAD_BYTES;
  }

  /** Prevents Netty from continuing to read by itself after a read without a decodable message. */
  @Override
  public void channelReadComplete(ChannelHandlerContext context) throws Exception {
    if (connection.ready()) {
      super.channelReadComplete(context);
    } else {
      discardSomeReadBytes();
      context.fireChannelReadComplete();
    }
  }
}
