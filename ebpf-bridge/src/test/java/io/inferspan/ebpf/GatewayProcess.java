package io.inferspan.ebpf;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.opentelemetry.context.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.io.IOException;
import java.net.URI;

/**
 * A gateway on Vert.x as users write it: its code does not refer to the bridge, which starts
 * because its jar is on the class path. Responds with the traceparent that it forwarded.
 */
final class GatewayProcess {

  private static final String LOOPBACK = "127.0.0.1";
  private static final int CONNECTIONS = 8;

  private final Telemetry telemetry;
  private final HttpClient client;
  private final URI upstream;

  private GatewayProcess(Telemetry telemetry, HttpClient client, URI upstream) {
    this.telemetry = telemetry;
    this.client = client;
    this.upstream = upstream;
  }

  public static void main(String[] arguments) throws IOException {
    Telemetry telemetry = Telemetry.initTracing();
    Vertx vertx = Vertx.vertx();
    HttpClient client = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(CONNECTIONS));
    GatewayProcess gateway = new GatewayProcess(telemetry, client, URI.create(arguments[0]));
    HttpServer server =
        await(vertx.createHttpServer().requestHandler(gateway::serve).listen(0, LOOPBACK));
    System.out.println(server.actualPort());
    System.in.read();
    await(vertx.close());
    telemetry.close();
    System.out.println("closed");
    System.exit(0);
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }

  private void serve(HttpServerRequest request) {
    OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    MultiMap headers = HttpHeaders.headers();
    telemetry.inject(span, headers, (carrier, key, value) -> headers.set(key, value));
    forward(request.uri(), headers)
        .onComplete(
            answered -> {
              span.close();
              request
                  .response()
                  .setStatusCode(answered.succeeded() ? 200 : 502)
                  .end(headers.get("traceparent"));
            });
  }

  private Future<?> forward(String uri, MultiMap headers) {
    return client
        .request(HttpMethod.GET, upstream.getPort(), upstream.getHost(), uri)
        .compose(
            sent -> {
              sent.headers().addAll(headers);
              return sent.send();
            })
        .compose(HttpClientResponse::body);
  }
}
