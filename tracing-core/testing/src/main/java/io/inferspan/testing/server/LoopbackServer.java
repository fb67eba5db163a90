package io.inferspan.testing.server;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** An HTTP server for tests on this machine, with one event loop and only daemon threads. */
public final class LoopbackServer implements AutoCloseable {
  private static final int TIMEOUT_SECONDS = 30;

  private final String owner;
  private final Vertx vertx = Vertx.vertx(quietDaemon());
  private final Set<HttpConnection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final HttpServer server;

  /** Prepares a server; error messages name its {@code owner}. */
  public LoopbackServer(String owner, HttpServerOptions options) {
    this.owner = owner;
    this.server =
        vertx
            .createHttpServer(options)
            .connectionHandler(this::remember)
            // Do not log connections that break before a request.
            .exceptionHandler(broken -> {});
  }

  /** Starts listening; port 0 selects a free port. */
  public void listen(String host, int port, Handler<HttpServerRequest> handler) {
    try {
      server.requestHandler(handler).listen(port, host).await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      close();
      throw new IllegalStateException(
          "%s: cannot listen on %s:%d: %s".formatted(owner, host, port, e), e);
    }
  }

  /** Returns the instance that runs the server, for timers. */
  public Vertx vertx() {
    return vertx;
  }

  /** Returns the port that the server listens on. */
  public int port() {
    return server.actualPort();
  }

  /** Returns whether {@link #close} was called. */
  public boolean isClosed() {
    return isClosed.get();
  }

  private void remember(HttpConnection connection) {
    connections.add(connection);
    connection.closeHandler(closed -> connections.remove(connection));
  }

  /**
   * Stops listening, closes all connections and ends the threads.
   *
   * <p>Connections are closed explicitly, because Vert.x sometimes stops its event loop before it
   * has closed an HTTP/2 connection with an open stream.
   */
  @Override
  public void close() {
    if (isClosed.getAndSet(true)) {
      return;
    }
    try {
      server.close().await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      List<Future<Void>> closings = new ArrayList<>();
      connections.forEach(connection -> closings.add(connection.close()));
      Future.join(closings).await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      vertx.close().await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(owner + ": cannot close", e);
    }
  }

  private static VertxOptions quietDaemon() {
    return new VertxOptions()
        .setEventLoopPoolSize(1)
        .setWorkerPoolSize(1)
        .setInternalBlockingPoolSize(1)
        .setUseDaemonThread(true)
        // Without these options, Vert.x creates a cache directory.
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }
}
