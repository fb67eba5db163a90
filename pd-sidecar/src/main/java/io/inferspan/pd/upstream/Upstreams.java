package io.inferspan.pd.upstream;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.net.TurnEndFlush;
import io.inferspan.pd.net.UpstreamTls;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections to the engines of one stage: prefillers, decoders or encoders.
 *
 * <p>Each event loop has connections of its own, so that a call stays on its client's loop.
 */
public final class Upstreams implements AutoCloseable {
  /** Less than 5 s, the time after which uvicorn (in vLLM and SGLang) closes an idle connection. */
  public static final Duration IDLE_LIMIT = Duration.ofSeconds(4);

  private static final Duration SWEEP = Duration.ofSeconds(1);
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_CONTENT_BYTES = 64 * 1024;
  private static final long CLOSE_MILLIS = 2_000;

  private final Loops loops;
  private final Settings settings;
  private final int maxIdle;
  private final Queue<Pool> pools = new ConcurrentLinkedQueue<>();
  private final FastThreadLocal<Pool> poolOfLoop = new FastThreadLocal<>();

  /**
   * Connection settings for the engines of a stage.
   *
   * @param tls null for plain HTTP
   * @param idleLimit how long an idle connection may be reused
   */
  public record Settings(
      @Nullable UpstreamTls tls,
      int maxIdlePerHost,
      Duration idleLimit,
      int headerBytes,
      ConnectionMeters events) {}

  /** The connections of one event loop; for use on that loop only. */
  private static final class Pool {
    private final EventLoop loop;
    private final Map<Target, ArrayDeque<UpstreamConnection>> idle = new HashMap<>();
    private final Set<UpstreamConnection> open = new HashSet<>();
    private final Set<EngineCall> connecting = new HashSet<>();
    private @Nullable ScheduledFuture<?> sweep;
    private boolean closed;

    Pool(EventLoop loop) {
      this.loop = loop;
    }
  }

  public Upstreams(Loops loops, Settings settings) {
    this.loops = loops;
    this.settings = settings;
    this.maxIdle = Math.max(1, settings.maxIdlePerHost() / loops.count());
  }

  private Pool poolOf(EventLoop loop) {
    Pool existing = poolOfLoop.get();
    if (existing != null) {
      return existing;
    }
    Pool created = new Pool(loop);
    created.sweep =
        loop.scheduleAtFixedRate(
            () -> closeStale(created), SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
    poolOfLoop.set(created);
    pools.add(created);
    return created;
  }

  /**
   * Starts a call, which may be connected before this returns.
   *
   * @param loop the calling event loop, on which the call stays
   */
  public void start(EventLoop loop, Target target, EngineCall call) {
    UpstreamConnection connection = takeIdle(poolOf(loop), target);
    if (connection == null) {
      connect(loop, target, call);
    } else {
      connection.begin(call, true);
    }
  }

  private @Nullable UpstreamConnection takeIdle(Pool pool, Target target) {
    ArrayDeque<UpstreamConnection> waiting = pool.idle.get(target);
    while (waiting != null && !waiting.isEmpty()) {
      UpstreamConnection connection = waiting.pollLast();
      settings.events().idle(-1);
      if (connection.channel().isActive() && !stale(connection)) {
        return connection;
      }
      connection.close();
    }
    return null;
  }

  /**
   * Returns whether the connection has been idle for so long that the engine may be about to close
   * it.
   */
  private boolean stale(UpstreamConnection connection) {
    return System.nanoTime() - connection.idleSince() > settings.idleLimit().toNanos();
  }

  /** Returns a connection to the pool after a complete response. */
  void release(UpstreamConnection connection) {
    Pool pool = poolOf(connection.channel().eventLoop());
    ArrayDeque<UpstreamConnection> waiting =
        pool.idle.computeIfAbsent(connection.target(), any -> new ArrayDeque<>());
    if (pool.closed || waiting.size() >= maxIdle) {
      connection.close();
    } else {
      waiting.addLast(connection);
      settings.events().idle(1);
    }
  }

  void lost(UpstreamConnection connection) {
    Pool pool = poolOf(connection.channel().eventLoop());
    ArrayDeque<UpstreamConnection> waiting = pool.idle.get(connection.target());
    if (waiting != null && waiting.remove(connection)) {
      settings.events().idle(-1);
    }
  }

  void connect(EventLoop loop, Target target, EngineCall call) {
    poolOf(loop).connecting.add(call);
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved(target.host(), target.port());
    Future<List<InetSocketAddress>> lookup = loops.names().getResolver(loop).resolveAll(unresolved);
    lookup.addListener(
        done -> {
          if (done.isSuccess()) {
            connect(loop, new ArrayDeque<>(lookup.getNow()), target, call);
          } else {
            fail(poolOf(loop), call, unreachable(target, "the name cannot be resolved"));
          }
        });
  }

  void connect(
      EventLoop loop, ArrayDeque<InetSocketAddress> addresses, Target target, EngineCall call) {
    tryNext(poolOf(loop), addresses, target, call, unreachable(target, "the name has no address"));
  }

  private void tryNext(
      Pool pool,
      ArrayDeque<InetSocketAddress> left,
      Target target,
      EngineCall call,
      UpstreamFailure failure) {
    InetSocketAddress address = left.poll();
    if (address == null) {
      fail(pool, call, failure);
      return;
    }
    UpstreamConnection connection = new UpstreamConnection(this, target);
    ChannelFuture connecting =
        loops.client(pool.loop).handler(pipeline(target, connection)).connect(address);
    connecting.addListener(
        done -> {
          if (done.isSuccess()) {
            established(pool, connection, call);
          } else {
            // Netty reports a lack of file descriptors on another thread.
            pool.loop.execute(
                () ->
                    tryNext(
                        pool,
                        left,
                        target,
                        call,
                        moreInformative(failure, failure(target, done.cause()))));
          }
        });
  }

  /**
   * Returns the more informative failure: a refused connection shows that the host is up and the
   * engine is not.
   */
  private static UpstreamFailure moreInformative(UpstreamFailure before, UpstreamFailure last) {
    return before.kind() == Kind.REFUSED ? before : last;
  }

  private void established(Pool pool, UpstreamConnection connection, EngineCall call) {
    Channel channel = connection.channel();
    settings.events().opened();
    pool.open.add(connection);
    channel
        .closeFuture()
        .addListener(
            _ -> {
              pool.open.remove(connection);
              settings.events().closed();
            });
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      begin(pool, connection, call);
      return;
    }
    tls.handshakeFuture()
        .addListener(
            done -> {
              if (done.isSuccess()) {
                begin(pool, connection, call);
              } else {
                fail(pool, call, unreachable(connection.target(), "the TLS handshake failed"));
                connection.close();
              }
            });
  }

  private static void begin(Pool pool, UpstreamConnection connection, EngineCall call) {
    pool.connecting.remove(call);
    connection.begin(call, false);
  }

  private static void fail(Pool pool, EngineCall call, UpstreamFailure failure) {
    pool.connecting.remove(call);
    call.fail(failure);
  }

  private ChannelHandler pipeline(Target target, UpstreamConnection connection) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.pipeline().addLast(new TurnEndFlush());
        UpstreamTls tls = settings.tls();
        if (tls != null) {
          SslHandler handler = tls.newHandler(channel.alloc(), target.host(), target.port());
          handler.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT.toMillis());
          channel.pipeline().addLast(handler);
        }
        channel.pipeline().addLast(codec(), connection);
      }
    };
  }

  private HttpClientCodec codec() {
    HttpDecoderConfig decoding =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(settings.headerBytes())
            .setMaxHeaderSize(settings.headerBytes())
            .setMaxChunkSize(MAX_CONTENT_BYTES);
    return new HttpClientCodec(decoding, false, false);
  }

  private static UpstreamFailure failure(Target target, Throwable cause) {
    if (cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException)) {
      return new UpstreamFailure(Kind.REFUSED, "dial tcp " + target + ": connection refused");
    }
    return unreachable(target, "the connection timed out, or there is no route to the host");
  }

  private static UpstreamFailure unreachable(Target target, String why) {
    return new UpstreamFailure(Kind.UNREACHABLE, "dial tcp " + target + ": " + why);
  }

  private void closeStale(Pool pool) {
    for (ArrayDeque<UpstreamConnection> waiting : pool.idle.values()) {
      while (!waiting.isEmpty() && stale(waiting.peekFirst())) {
        waiting.pollFirst().close();
        settings.events().idle(-1);
      }
    }
    pool.idle.values().removeIf(ArrayDeque::isEmpty);
  }

  /** Closes all connections; active calls have failed when this returns. */
  @Override
  public void close() {
    pools.stream()
        .map(pool -> pool.loop.submit(() -> close(pool)))
        .toList()
        .forEach(closing -> closing.awaitUninterruptibly(CLOSE_MILLIS));
  }

  private void close(Pool pool) {
    pool.closed = true;
    if (pool.sweep != null) {
      pool.sweep.cancel(false);
    }
    pool.idle.values().forEach(waiting -> settings.events().idle(-waiting.size()));
    pool.idle.clear();
    List.copyOf(pool.connecting).forEach(call -> fail(pool, call, UpstreamFailure.shutdown()));
    List.copyOf(pool.open).forEach(UpstreamConnection::stop);
  }
}
