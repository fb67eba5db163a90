package io.inferspan.gateway.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.Wire;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.LoggerFormat;
import io.vertx.ext.web.handler.LoggerHandler;
import io.vertx.ext.web.handler.SessionHandler;
import io.vertx.ext.web.handler.TimeoutHandler;
import io.vertx.ext.web.sstore.LocalSessionStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A router of vertx-web behind the gateway's handler: it replaces the handlers of responses. */
final class VertxWebTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String BODY = "{\"model\":\"tiny\"}";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private Vertx vertx = Vertx.vertx();

  @AfterEach
  void closeVertx() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private int serve(Handler<RoutingContext> route) throws Exception {
    Router router = Router.router(vertx);
    router
        .route()
        .handler(LoggerHandler.create(true, LoggerFormat.TINY))
        .handler(TimeoutHandler.create(5_000))
        .handler(SessionHandler.create(LocalSessionStore.create(vertx)))
        .handler(BodyHandler.create(false))
        .handler(route);
    VertxGateway gateway =
        new VertxGateway(GatewayTracing.create(Telemetry.using(tracing.openTelemetry())));
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(gateway.handler((request, live) -> router.handle(request)))
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS);
    return server.actualPort();
  }

  private SpanRecord span() {
    return tracing.awaitSpans(1, SOON).get(0);
  }

  @Test
  void answeredRequest_endsItsSpan() throws Exception {
    int port =
        serve(
            context -> {
              Objects.requireNonNull(context.session()).put("turns", 1);
              context.addEndHandler(end -> {});
              context.json(context.body().asJsonObject());
            });
    try (Wire wire = new Wire(port)) {
      wire.send(Wire.chat(BODY));
      assertThat(wire.read().text()).isEqualTo(BODY);
      assertThat(span().isError()).isFalse();
      assertThat(span().attribute("http.response.status_code")).isEqualTo(200L);
    }
  }

  @Test
  void failedRequest_endsItsSpan() throws Exception {
    int port = serve(context -> context.fail(503));
    try (Wire wire = new Wire(port)) {
      wire.send(Wire.chat(BODY));
      assertThat(wire.read().status()).isEqualTo(503);
      assertThat(span().attribute("error.type")).isEqualTo("503");
    }
  }

  @Test
  void clientThatLeaves_endsItsSpan() throws Exception {
    int port =
        serve(
            context -> {
              HttpServerResponse response = context.response().setChunked(true);
              response.write("begun");
            });
    try (Wire wire = new Wire(port)) {
      wire.send(Wire.chat(BODY));
      wire.readUntil("begun");
    }
    assertThat(span().attribute("error.type")).isEqualTo("client_disconnected");
    assertThat(span().attribute("http.response.status_code")).isEqualTo(200L);
  }

  /** A user's tracer, which counts. */
  private static final class Counting implements VertxTracer<Object, Object> {
    private final List<Object> payloads = new CopyOnWriteArrayList<>();

    @Override
    public <R> Object receiveRequest(
        Context context,
        SpanKind kind,
        TracingPolicy policy,
        R request,
        String operation,
        Iterable<Map.Entry<String, String>> headers,
        TagExtractor<R> tags) {
      return "mine";
    }

    @Override
    public <R> void sendResponse(
        Context context, R response, Object payload, Throwable failure, TagExtractor<R> tags) {
      payloads.add(payload);
    }
  }

  @Test
  void tracerOfTheUser_isCalledAsBefore() throws Exception {
    Counting users = new Counting();
    closeVertx();
    vertx = Vertx.builder().withTracer(VertxGateway.beforeTracer(options -> users)).build();
    int port = serve(context -> context.end("done"));
    try (Wire wire = new Wire(port)) {
      wire.send(Wire.chat(BODY));
      assertThat(wire.read().text()).isEqualTo("done");
      assertThat(span().isError()).isFalse();
      assertThat(users.payloads).containsExactly("mine");
    }
  }

  @Test
  void tracerOfTheUser_mayBeAbsent() throws Exception {
    closeVertx();
    vertx = Vertx.builder().withTracer(VertxGateway.beforeTracer(options -> null)).build();
    int port = serve(context -> context.end("done"));
    try (Wire wire = new Wire(port)) {
      wire.send(Wire.chat(BODY));
      assertThat(wire.read().text()).isEqualTo("done");
      assertThat(span().isError()).isFalse();
    }
  }
}
