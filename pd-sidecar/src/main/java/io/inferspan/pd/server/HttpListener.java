package io.inferspan.pd.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.net.TurnEndFlush;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Listens on a port for HTTP/1.1 and HTTP/2, in plain text or with TLS, and closes idle
 * connections.
 */
public final class HttpListener implements AutoCloseable {
  private static final Duration SWEEP = Duration.ofSeconds(5);
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final long FIRST_BYTES_SECONDS = 30;
  private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII);
  private static final long FIRST_REQUEST_NANOS = Duration.ofSeconds(30).toNanos();
  private static final long QUIET_NANOS = Duration.ofMinutes(5).toNanos();

  private final Settings settings;
  private final Channel channel;
  private final ScheduledFuture<?> sweep;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;
  private volatile boolean cut;

  /**
   * Settings of a listener.
   *
   * @param handler called with each request's head, on the event loop of its connection
   * @param tls called for each connection, so that certificates can change; null for plain HTTP
   * @param rank the index of this listener, from zero
   */
  public record Settings(
      Consumer<ClientExchange> handler,
      @Nullable Supplier<SslContext> tls,
      int headerBytes,
      int rank) {}

  /** The time when a connection last served a request; any thread may read it. */
  static final class Activity {
    private volatile long quietSince = System.nanoTime();
    private volatile boolean servedAny;

    void begins() {
      quietSince = 0;
      if (!servedAny) {
        servedAny = true;
      }
    }

    void ends() {
      quietSince = System.nanoTime();
    }

    /**
     * Returns whether the connection is idle for too long: for 5 minutes since its last request, or
     * for 30 s if it had none yet.
     */
    boolean isIdle() {
      long since = quietSince;
      long limit = servedAny ? QUIET_NANOS : FIRST_REQUEST_NANOS;
      return since != 0 && System.nanoTime() - since > limit;
    }
  }

  interface Connection {
    Channel channel();

    Activity activity();

    /** Closes after the active requests have ended. */
    void drain();

    void close();

    /** Ends active requests at once. */
    void cut();
  }

  private HttpListener(Loops loops, int port, Settings settings) throws IOException {
    this.settings = settings;
    ChannelFuture binding =
        loops.server().childHandler(new Initializer()).bind(port).awaitUninterruptibly();
    if (!binding.isSuccess()) {
      throw new IOException(
          "cannot listen on port " + port + ": " + binding.cause().getMessage(), binding.cause());
    }
    this.channel = binding.channel();
    this.sweep =
        channel
            .eventLoop()
            .scheduleAtFixedRate(
                this::closeIdle, SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Begins to listen on all addresses.
   *
   * @param port zero to select a free one
   * @throws IOException if the port is in use
   */
  public static HttpListener listen(Loops loops, int port, Settings settings) throws IOException {
    return new HttpListener(loops, port, settings);
  }

  /** Sets up the channel of a client; the protocol is selected later. */
  private final class Initializer extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel client) {
      client.pipeline().addLast(new TurnEndFlush());
      if (settings.tls() == null) {
        client.pipeline().addLast(new PrefaceDetector());
      } else {
        SslHandler tls = settings.tls().get().newHandler(client.alloc());
        tls.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT.toMillis());
        client.pipeline().addLast(tls, new Negotiation());
      }
    }
  }

  /** Detects HTTP/2 by the connection preface, on connections without TLS. */
  private final class PrefaceDetector extends ByteToMessageDecoder {
    private @Nullable ScheduledFuture<?> silence;

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      silence =
          context.executor().schedule(() -> context.close(), FIRST_BYTES_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext context) {
      if (silence != null) {
        silence.cancel(false);
      }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      int known = Math.min(in.readableBytes(), PREFACE.length);
      for (int i = 0; i < known; i++) {
        if (in.getByte(in.readerIndex() + i) != PREFACE[i]) {
          serve(context.channel(), false);
          context.pipeline().remove(this);
          return;
        }
      }
      if (known == PREFACE.length) {
        serve(context.channel(), true);
        context.pipeline().remove(this);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** Selects the protocol that the handshake has negotiated. */
  private final class Negotiation extends ApplicationProtocolNegotiationHandler {
    Negotiation() {
      super(ApplicationProtocolNames.HTTP_1_1);
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext context, String protocol) {
      serve(context.channel(), protocol.equals(ApplicationProtocolNames.HTTP_2));
    }

    @Override
    protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** Serves a channel, and tracks it until it closes. */
  private void serve(Channel client, boolean http2) {
    Connection connection =
        http2
            ? Http2Connection.install(client, settings)
            : ClientConnection.install(client, settings);
    open.add(connection);
    client.closeFuture().addListener(_ -> open.remove(connection));
    if (cut) {
      cut(connection);
    } else if (draining) {
      drain(connection);
    }
  }

  private void closeIdle() {
    for (Connection connection : open) {
      if (connection.activity().isIdle()) {
        connection.channel().eventLoop().execute(connection::close);
      }
    }
  }

  private static void drain(Connection connection) {
    connection.channel().eventLoop().execute(connection::drain);
  }

  private static void cut(Connection connection) {
    connection.channel().eventLoop().execute(connection::cut);
  }

  public int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  public int connections() {
    return open.size();
  }

  /** Stops accepting connections, and closes existing ones when their requests end. */
  public void drain() {
    sweep.cancel(false);
    channel.close();
    draining = true;
    open.forEach(HttpListener::drain);
  }

  /** Stops accepting connections, and closes existing ones at once. */
  @Override
  public void close() {
    sweep.cancel(false);
    channel.close().awaitUninterruptibly();
    cut = true;
    open.forEach(HttpListener::cut);
  }
}
