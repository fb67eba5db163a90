package io.inferspan.pd.upstream;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.tls.UpstreamTls;
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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The connections of one event loop to the engines of one stage; for use on that loop only. */
final class UpstreamPool {
  private static final Duration SWEEP = Duration.ofSeconds(1);
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_CONTENT_BYTES = 64 * 1024;

  private final Loops loops;
  private final EventLoop loop;
  private final Upstreams.Settings settings;
  private final int maxIdle;
  private final Map<Target, ArrayDeque<UpstreamConnection>> idle = new HashMap<>();
  private final Set<UpstreamConnection> open = new HashSet<>();
  private final Set<EngineCall> connecting = new HashSet<>();
  private final ScheduledFuture<?> sweep;
  private boolean closed;

  UpstreamPool(Loops loops, EventLoop loop, Upstreams.Settings settings) {
    this.loops = loops;
    this.loop = loop;
    this.settings = settings;
    this.maxIdle = Math.max(1, settings.maxIdlePerHost() / loops.count());
    this.sweep =
        loop.scheduleAtFixedRate(
            this::closeStale, SWEEP.toMillis(), SWEEP.toMillis(), TimeUnit.MILLISECONDS);
  }

  void start(Target target, EngineCall call) {
    UpstreamConnection connection = takeIdle(target);
    if (connection == null) {
      connect(target, call);
    } else {
      connection.begin(call, true);
    }
  }

  private @Nullable UpstreamConnection takeIdle(Target target) {
    ArrayDeque<UpstreamConnection> waiting = idle.get(target);
    while (waiting != null && !waiting.isEmpty()) {
      UpstreamConnection connection = waiting.pollLast();
      settings.events().idle(-1);
      if (connection.usable() && !stale(connection)) {
        return connection;
      }
      connection.close();
    }
    return null;
  }

  /** Returns whether the engine may be about to close it. */
  private boolean stale(UpstreamConnection connection) {
    return System.nanoTime() - connection.idleSince() > settings.idleLimit().toNanos();
  }

  /** Returns a connection to the pool after a complete response. */
  void release(UpstreamConnection connection) {
    ArrayDeque<UpstreamConnection> waiting =
        idle.computeIfAbsent(connection.target(), any -> new ArrayDeque<>());
    if (closed || waiting.size() >= maxIdle) {
      connection.close();
    } else {
      waiting.addLast(connection);
      settings.events().idle(1);
    }
  }

  /** Removes an idle connection that has ended. */
  void lost(UpstreamConnection connection) {
    ArrayDeque<UpstreamConnection> waiting = idle.get(connection.target());
    if (waiting != null && waiting.remove(connection)) {
      settings.events().idle(-1);
    }
  }

  void connect(Target target, EngineCall call) {
    connecting.add(call);
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved(target.host(), target.port());
    Future<List<InetSocketAddress>> lookup = loops.names().getResolver(loop).resolveAll(unresolved);
    lookup.addListener(
        done -> {
          if (done.isSuccess()) {
            connect(new ArrayDeque<>(lookup.getNow()), target, call);
          } else {
            fail(call, unreachable(target, "the name cannot be resolved"));
          }
        });
  }

  /** Tries one address after the other. */
  void connect(ArrayDeque<InetSocketAddress> addresses, Target target, EngineCall call) {
    tryNext(addresses, target, call, unreachable(target, "the name has no address"));
  }

  private void tryNext(
      ArrayDeque<InetSocketAddress> left, Target target, EngineCall call, UpstreamFailure failure) {
    InetSocketAddress address = left.poll();
    if (address == null) {
      fail(call, failure);
      return;
    }
    UpstreamConnection connection = new UpstreamConnection(this, target);
    ChannelFuture connecting =
        loops.client(loop).handler(pipeline(target, connection)).connect(address);
    connecting.addListener(
        done -> {
          if (done.isSuccess()) {
            established(connecting.channel(), connection, call);
          } else {
            tryNext(left, target, call, worse(failure, failure(target, done.cause())));
          }
        });
  }

  /**
   * Returns a refusal if one of the failures is one, because it shows that the host is up and the
   * engine is not.
   */
  private static UpstreamFailure worse(UpstreamFailure before, UpstreamFailure last) {
    return before.kind() == Kind.REFUSED ? before : last;
  }

  private void established(Channel channel, UpstreamConnection connection, EngineCall call) {
    settings.events().opened();
    open.add(connection);
    channel
        .closeFuture()
        .addListener(
            _ -> {
              open.remove(connection);
              settings.events().closed();
            });
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      begin(connection, call);
      return;
    }
    tls.handshakeFuture()
        .addListener(
            done -> {
              if (done.isSuccess()) {
                begin(connection, call);
              } else {
                fail(call, unreachable(connection.target(), "the TLS handshake failed"));
                connection.close();
              }
            });
  }

  private void begin(UpstreamConnection connection, EngineCall call) {
    connecting.remove(call);
    connection.begin(call, false);
  }

  private void fail(EngineCall call, UpstreamFailure failure) {
    connecting.remove(call);
    call.fail(failure);
  }

  private ChannelHandler pipeline(Target target, UpstreamConnection connection) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
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
    return unreachable(target, "no connection within the time or no route");
  }

  private static UpstreamFailure unreachable(Target target, String why) {
    return new UpstreamFailure(Kind.UNREACHABLE, "dial tcp " + target + ": " + why);
  }

  private void closeStale() {
    for (ArrayDeque<UpstreamConnection> waiting : idle.values()) {
      while (!waiting.isEmpty() && stale(waiting.peekFirst())) {
        waiting.pollFirst().close();
        settings.events().idle(-1);
      }
    }
    idle.values().removeIf(ArrayDeque::isEmpty);
  }

  /** Ends all connections, and the calls on them. */
  Future<?> close() {
    return loop.submit(
        () -> {
          closed = true;
          sweep.cancel(false);
          idle.values().forEach(waiting -> settings.events().idle(-waiting.size()));
          idle.clear();
          List.copyOf(connecting).forEach(call -> fail(call, UpstreamFailure.shutdown()));
          List.copyOf(open).forEach(UpstreamConnection::stop);
        });
  }
}
