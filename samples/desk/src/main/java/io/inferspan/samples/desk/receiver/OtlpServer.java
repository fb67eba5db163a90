package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.ExportReader;
import io.inferspan.samples.desk.otlp.Received;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.List;
import java.util.function.Consumer;

/**
 * Serves OTLP. Each port accepts both gRPC and HTTP, so that mixing up 4317 and 4318 is harmless.
 */
public final class OtlpServer {

  private static final int IDLE_SECONDS = 120;
  private static final int STREAM_WINDOW_BYTES = 1 << 20;
  private static final long BUDGET_BYTES = 64L << 20;

  private final Vertx vertx;
  private final Consumer<List<Received>> sink;
  private final Drops drops;
  private final ByteBudget budget = new ByteBudget(BUDGET_BYTES);

  /** Creates a server that passes spans to {@code sink}, on event loops. */
  public OtlpServer(Vertx vertx, Consumer<List<Received>> sink, Drops drops) {
    this.vertx = vertx;
    this.sink = sink;
    this.drops = drops;
  }

  /** Starts listening; may be called for several ports. */
  public Future<HttpServer> listen(String host, int port) {
    HttpServerOptions options =
        new HttpServerOptions()
            .setIdleTimeout(IDLE_SECONDS)
            .setHandle100ContinueAutomatically(true)
            .setHttp2ConnectionWindowSize(4 * STREAM_WINDOW_BYTES);
    options.getInitialSettings().setInitialWindowSize(STREAM_WINDOW_BYTES);
    // All connections of a port run on one event loop, and share a reader.
    OtlpCall.Shared shared = new OtlpCall.Shared(new ExportReader(drops), sink, drops, budget);
    return vertx
        .createHttpServer(options)
        .requestHandler(request -> new OtlpCall(request, shared).open())
        // Connections that break before a request are not logged.
        .exceptionHandler(broken -> {})
        .listen(port, host);
  }
}
