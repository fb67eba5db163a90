package io.inferspan.samples.desk;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.receiver.OtlpServer;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.trace.RecordedStacks;
import io.inferspan.samples.desk.trace.SummaryReader;
import io.inferspan.samples.desk.web.WebServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import java.io.IOException;

/**
 * A running desk.
 *
 * <pre>{@code
 * Desk.start(DeskConfig.parse(List.of("--port=0"), Map.of())).onSuccess(desk -> desk.port());
 * }</pre>
 */
public final class Desk {

  private static final int EVENT_LOOPS = 2;
  private static final int WORKERS = 2;

  private final Vertx vertx;
  private final Ports ports;

  private record Ports(int page, int otlpHttp, int otlpGrpc) {}

  private Desk(Vertx vertx, Ports ports) {
    this.vertx = vertx;
    this.ports = ports;
  }

  /** Starts listening on all three ports; fails, and closes all of them, if one is taken. */
  public static Future<Desk> start(DeskConfig config) {
    Vertx vertx = Vertx.vertx(options());
    Drops drops = new Drops();
    SpanStore store = new SpanStore(config.bounds(), drops, new SummaryReader());
    OtlpServer otlp = new OtlpServer(vertx, store::add, drops);
    Future<HttpServer> http =
        named(otlp.listen(config.host(), config.otlpHttpPort()), config.otlpHttpPort());
    Future<HttpServer> grpc =
        named(otlp.listen(config.host(), config.otlpGrpcPort()), config.otlpGrpcPort());
    WebServer web = new WebServer(vertx, store, new RecordedStacks(config.stacks()), drops);
    Future<HttpServer> page = named(web.listen(config.host(), config.port()), config.port());
    return Future.all(http, grpc, page)
        .map(
            all ->
                new Desk(
                    vertx,
                    new Ports(
                        page.result().actualPort(),
                        http.result().actualPort(),
                        grpc.result().actualPort())))
        .recover(failure -> vertx.close().transform(closed -> Future.failedFuture(failure)));
  }

  /** Adds the port number to the message of a failure to listen. */
  private static Future<HttpServer> named(Future<HttpServer> listening, int port) {
    return listening.recover(
        cause ->
            Future.failedFuture(
                new IOException(
                    "cannot listen on port " + port + ": " + cause.getMessage(), cause)));
  }

  private static VertxOptions options() {
    return new VertxOptions()
        .setPreferNativeTransport(true)
        .setEventLoopPoolSize(EVENT_LOOPS)
        .setWorkerPoolSize(WORKERS)
        .setInternalBlockingPoolSize(1)
        // Without this, Vert.x creates a cache directory that the desk does not need.
        .setFileSystemOptions(
            new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false));
  }

  /** Returns the port of the page. */
  public int port() {
    return ports.page;
  }

  /** Returns the port for OTLP over HTTP. */
  public int otlpHttpPort() {
    return ports.otlpHttp;
  }

  /** Returns the port for OTLP over gRPC. */
  public int otlpGrpcPort() {
    return ports.otlpGrpc;
  }

  /** Stops the desk and drops all traces. */
  public Future<Void> close() {
    return vertx.close();
  }
}
