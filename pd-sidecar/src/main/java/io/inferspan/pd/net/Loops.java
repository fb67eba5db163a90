package io.inferspan.pd.net;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.resolver.AddressResolverGroup;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.transport.Transport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The event loops of one sidecar, and sockets on them. */
public final class Loops implements AutoCloseable {
  private static final int CLOSE_SECONDS = 10;
  private static final int WORKERS = 2;
  private static final int BACKLOG = 4096;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

  static {
    NettyDefaults.set();
  }

  private final VertxInternal vertx;
  private final Transport transport;
  private final int count;
  private final ByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;

  private Loops(VertxInternal vertx, Transport transport, int count) {
    this.vertx = vertx;
    this.transport = transport;
    this.count = count;
  }

  /**
   * Starts event loops.
   *
   * @param asked {@code nio}, {@code epoll}, {@code io_uring} or {@code auto}, the best one
   *     available
   * @param count zero for one per core
   * @throws IllegalArgumentException if the requested transport is not available
   */
  public static Loops start(String asked, int count) {
    Transport chosen = asked.equals("auto") ? best() : working(asked);
    int loops = count > 0 ? count : Runtime.getRuntime().availableProcessors();
    VertxOptions options =
        new VertxOptions().setEventLoopPoolSize(loops).setWorkerPoolSize(WORKERS);
    Vertx vertx = Vertx.builder().with(options).withTransport(chosen).build();
    Loops started = new Loops((VertxInternal) vertx, chosen, loops);
    started.openResolvers();
    return started;
  }

  /**
   * Creates the resolver of each loop, which needs a file descriptor. Netty never repairs a
   * resolver that was created without one, and Vert.x then does not stop.
   */
  private void openResolvers() {
    vertx.nettyEventLoopGroup().forEach(names()::getResolver);
  }

  private static Transport best() {
    for (Transport candidate : new Transport[] {Transport.IO_URING, Transport.EPOLL}) {
      if (candidate != null && candidate.available()) {
        return candidate;
      }
    }
    return Transport.NIO;
  }

  /**
   * Returns a transport after checking that it works on this machine. Otherwise Vert.x would
   * silently fall back to NIO, whose event loops do not accept channels of another transport.
   */
  private static Transport working(String asked) {
    Transport transport =
        switch (asked) {
          case "nio" -> Transport.NIO;
          case "epoll" -> Transport.EPOLL;
          case "io_uring" -> Transport.IO_URING;
          default -> throw new IllegalArgumentException("there is no transport " + asked);
        };
    if (transport == null || !transport.available()) {
      throw new IllegalArgumentException(
          "transport is %s, which is not available here (%s); use auto"
              .formatted(asked, whyNot(transport)));
    }
    return transport;
  }

  private static String whyNot(@Nullable Transport transport) {
    Throwable cause = transport == null ? null : transport.unavailabilityCause();
    if (cause == null) {
      return "it is not on the class path";
    }
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
  }

  public Vertx vertx() {
    return vertx;
  }

  /** Returns threads for work that would block an event loop. */
  public Executor workers() {
    return vertx.workerPool().executor();
  }

  /** Returns the transport: {@code nio}, {@code epoll} or {@code io_uring}. */
  public String transportName() {
    return transport.name();
  }

  public int count() {
    return count;
  }

  /** Returns a bootstrap for connections on {@code loop}. */
  public Bootstrap client(EventLoop loop) {
    return new Bootstrap()
        .group(loop)
        .channelFactory(transport.implementation().channelFactory(false))
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.SO_KEEPALIVE, true)
        // After a failed write, the channel stays open, because the peer may have sent a response
        // before it reset the connection.
        .option(ChannelOption.AUTO_CLOSE, false)
        .option(ChannelOption.ALLOCATOR, allocator)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) CONNECT_TIMEOUT.toMillis());
  }

  /** Returns a bootstrap that accepts connections and distributes them over the loops. */
  public ServerBootstrap server() {
    return new ServerBootstrap()
        .group(vertx.acceptorEventLoopGroup(), vertx.eventLoopGroup())
        .channelFactory(transport.implementation().serverChannelFactory(false))
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.SO_KEEPALIVE, true)
        .childOption(ChannelOption.ALLOCATOR, allocator);
  }

  /** Returns a resolver that does not block a loop. */
  public AddressResolverGroup<InetSocketAddress> names() {
    return vertx.nameResolver().nettyAddressResolverGroup();
  }

  /** Resolves {@code name}, to an IPv4 address if it has one. */
  public Future<String> address(String name, Duration timeout) {
    return vertx
        .nameResolver()
        .resolve(name)
        .timeout(timeout.toMillis(), MILLISECONDS)
        .map(InetAddress::getHostAddress);
  }

  /** Stops the loops, and with them everything that runs on them. */
  @Override
  public void close() {
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(CLOSE_SECONDS, SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the event loops did not stop", e);
    }
  }
}
