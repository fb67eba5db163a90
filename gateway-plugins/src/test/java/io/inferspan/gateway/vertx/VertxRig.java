package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRig;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A server on its own Vert.x instance, with a client to engines. */
final class VertxRig implements GatewayRig {

  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;

  VertxRig(Function<HttpClient, Handler<HttpServerRequest>> gateway) {
    HttpClient client = vertx.createHttpClient();
    server =
        await(
            vertx.createHttpServer().requestHandler(gateway.apply(client)).listen(0, "127.0.0.1"));
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }

  @Override
  public int port() {
    return server.actualPort();
  }

  @Override
  public void close() {
    await(vertx.close());
  }
}
