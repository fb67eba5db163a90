package io.inferspan.pd.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** An HTTP/2 connection of a client; each stream is handled like a separate connection. */
final class Http2Connection implements HttpListener.Connection {
  private static final int MAX_STREAMS = 250;

  /** No timeout per connection, because the drain timeout applies to all connections together. */
  private static final long UNTIL_ALL_STREAMS_END = -1;

  private static final long LINGER_MILLIS = 500;

  private static final int RESETS_SECONDS = 10;

  /**
   * The limit of stream resets, from either side, within {@link #RESETS_SECONDS}. Beyond it, the
   * connection is closed. A gateway whose clients all disconnect once a second stays below it; a
   * rapid reset attack, with thousands per second, does not.
   */
  private static final int MAX_RESETS = MAX_STREAMS * RESETS_SECONDS;

  private final Channel channel;
  private final HttpListener.Activity activity = new HttpListener.Activity();

  /** Used on the connection's event loop only. */
  private final Set<ClientConnection> streams = new HashSet<>();

  private Http2Connection(Channel channel) {
    this.channel = channel;
  }

  /** Sets up a channel for HTTP/2. */
  static Http2Connection install(Channel channel, HttpListener.Settings settings) {
    Http2Connection connection = new Http2Connection(channel);
    Http2FrameCodec codec =
        Http2FrameCodecBuilder.forServer()
            .initialSettings(
                Http2Settings.defaultSettings()
                    .maxConcurrentStreams(MAX_STREAMS)
                    .maxHeaderListSize(settings.headerBytes()))
            .gracefulShutdownTimeoutMillis(UNTIL_ALL_STREAMS_END)
            .decoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_SECONDS)
            .encoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESETS_SECONDS)
            .build();
    channel
        .pipeline()
        .addLast(
            codec,
            new Http2MultiplexHandler(connection.streamInitializer(settings)),
            new Unlogged());
    return connection;
  }

  /** Returns only the head: a request without a body arrives as one full message. */
  static HttpRequest bare(HttpRequest head) {
    return head instanceof FullHttpRequest
        ? new DefaultHttpRequest(head.protocolVersion(), head.method(), head.uri(), head.headers())
        : head;
  }

  /** Drops protocol errors, which the codec has already answered. */
  private static final class Unlogged extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {}
  }

  private ChannelInitializer<Channel> streamInitializer(HttpListener.Settings settings) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel stream) {
        ClientConnection served = new ClientConnection(settings);
        streams.add(served);
        activity.begins();
        stream.closeFuture().addListener(_ -> closed(served));
        stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true), served);
      }
    };
  }

  private void closed(ClientConnection stream) {
    streams.remove(stream);
    if (streams.isEmpty()) {
      activity.ends();
    }
  }

  @Override
  public Channel channel() {
    return channel;
  }

  @Override
  public HttpListener.Activity activity() {
    return activity;
  }

  /** Sends GOAWAY; the codec closes after the streams have ended. */
  @Override
  public void drain() {
    channel.close().addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
  }

  @Override
  public void close() {
    channel.close();
  }

  @Override
  public void cut() {
    List.copyOf(streams).forEach(ClientConnection::cut);
    channel.close();
    channel.eventLoop().schedule(this::closePastTheCodec, LINGER_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Closes the socket directly. The codec would first wait until the client has received the
   * resets, which may never happen.
   */
  private void closePastTheCodec() {
    if (channel.isOpen()) {
      channel.pipeline().firstContext().close();
    }
  }
}
