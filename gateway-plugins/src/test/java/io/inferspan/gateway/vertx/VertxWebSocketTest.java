package io.inferspan.gateway.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocket;
import io.vertx.httpproxy.HttpProxy;
import io.vertx.httpproxy.OriginRequestProvider;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that turn their connection into a WebSocket. */
final class VertxWebSocketTest {

  private static final Duration SOON = Duration.ofSeconds(10);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void closeVertx() {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }

  private int serve(Handler<HttpServerRequest> handler) {
    HttpServer server = vertx.createHttpServer().requestHandler(handler);
    return await(server.listen(0, "127.0.0.1")).actualPort();
  }

  private VertxGateway gateway() {
    return new VertxGateway(GatewayTracing.create(Telemetry.using(tracing.openTelemetry())));
  }

  private int gateway(BiConsumer<HttpServerRequest, GatewayRequest> handler) {
    return serve(gateway().handler(handler));
  }

  private void talk(int port) {
    WebSocket socket =
        await(vertx.createWebSocketClient().connect(port, "127.0.0.1", "/v1/realtime"));
    CompletableFuture<String> answer = new CompletableFuture<>();
    socket.textMessageHandler(answer::complete);
    await(socket.writeTextMessage("hello"));
    assertThat(answer.orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo("hello");
    assertThat(tracing.spans()).hasSize(1);
    await(socket.close());
  }

  private static void echo(ServerWebSocket socket) {
    socket.textMessageHandler(socket::writeTextMessage);
  }

  private SpanRecord span() {
    return tracing.awaitSpans(1, SOON).get(0);
  }

  @Test
  void handshake_endsTheSpan() {
    talk(gateway((request, live) -> request.toWebSocket().onSuccess(VertxWebSocketTest::echo)));

    assertThat(span().isError()).isFalse();
    assertThat(span().attribute("http.response.status_code")).isEqualTo(101L);
  }

  @Test
  void handshakeThroughAProxy_endsTheSpan() {
    int engine = serve(request -> request.toWebSocket().onSuccess(VertxWebSocketTest::echo));
    HttpProxy proxy =
        HttpProxy.reverseProxy(vertx.createHttpClient())
            .origin(ProxyTracing.timed(OriginRequestProvider.fixedAddress(engine, "127.0.0.1")))
            .addInterceptor(new ProxyTracing(gateway()), true);
    talk(serve(proxy));

    assertThat(span().isError()).isFalse();
    assertThat(span().attribute("http.response.status_code")).isEqualTo(101L);
  }
}
