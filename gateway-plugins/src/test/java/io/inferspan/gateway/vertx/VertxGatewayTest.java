package io.inferspan.gateway.vertx;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.gateway.CurrentRequest;
import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.ScriptedEngine;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.Wire;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.trace.Span;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** The contract, kept by a gateway that is written by hand, and what only such a one can do. */
final class VertxGatewayTest extends GatewayContract {

  /** The port of tcpmux, on which no server listens. */
  private static final int UNUSED_PORT = 1;

  @Override
  protected GatewayRig start(GatewayTracing gateway, int enginePort) {
    return start(gateway, List.of(enginePort));
  }

  private static GatewayRig start(GatewayTracing gateway, List<Integer> enginePorts) {
    return new VertxRig(
        client -> new VertxGateway(gateway).handler(new RelayingGateway(client, enginePorts)));
  }

  @Test
  void retry_hasOneSpanForEachAttempt() throws Exception {
    try (FakeEngine busy =
            FakeEngine.builder()
                .script(EngineScript.builder().failWith(503, "busy").build())
                .start();
        GatewayRig gateway =
            start(tracing().build(), List.of(UNUSED_PORT, busy.port(), engine.port()));
        Wire wire = new Wire(gateway.port())) {
      wire.send(Wire.chat(STREAM));
      assertThat(wire.read().status()).isEqualTo(200);
      tracing.awaitSpans(4, SOON);
      assertThatSpans(tracing.spans())
          .isOneTrace()
          .hasTree(
              """
              gateway.request [SERVER] {inferspan.gateway.attempts=3, \
              http.response.status_code=200, inferspan.gateway.upstream.status_code=200}
                gateway.attempt [CLIENT] {http.request.resend_count=0, error.type=*, \
              server.address=127.0.0.1, server.port=*} ERROR
                gateway.attempt [CLIENT] {http.request.resend_count=1, error.type=503, \
              http.response.status_code=503} ERROR
                gateway.attempt [CLIENT] {http.request.resend_count=2, \
              http.response.status_code=200}
              """);
      String last =
          tracing.spans().stream()
              .filter(span -> Long.valueOf(2).equals(span.attribute("http.request.resend_count")))
              .findFirst()
              .orElseThrow()
              .spanId();
      assertThat(engine.requests().get(0).header("traceparent")).contains(last);
    }
  }

  @Test
  void handlersOfAUser_findTheRequestAndItsIds() throws Exception {
    Map<String, String> mdc = new ConcurrentHashMap<>();
    Map<String, Object> found = new ConcurrentHashMap<>();
    VertxGateway gateway =
        new VertxGateway(tracing().build(), new CurrentRequest(mdc::put, mdc::remove));
    try (GatewayRig rig =
            new VertxRig(
                client ->
                    gateway.handler(
                        (request, live) -> {
                          found.put("mdc", Map.copyOf(mdc));
                          found.put("span", Span.current().getSpanContext().getSpanId());
                          Objects.requireNonNull(Vertx.currentContext())
                              .owner()
                              .setTimer(
                                  1,
                                  later -> {
                                    GatewayRequest current = VertxGateway.current();
                                    found.put("later", current == live);
                                    request.response().end();
                                  });
                        }));
        Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat(WHOLE));
      assertThat(wire.read().status()).isEqualTo(200);
      String span = gatewaySpan().spanId();
      String trace = gatewaySpan().traceId();
      assertThat(found).containsEntry("span", span).containsEntry("later", true);
      assertThat(found).containsEntry("mdc", Map.of("trace_id", trace, "span_id", span));
      assertThat(mdc).isEmpty();
      assertThat(VertxGateway.current()).isNull();
    }
  }

  @Test
  void answerAfterAnInterimOne_reachesNoOtherClientOfAGatewayThatRelaysAnyStatus()
      throws Exception {
    VertxGateway gateway = new VertxGateway(tracing().build());
    try (ScriptedEngine scripted =
            new ScriptedEngine(
                call -> {
                  call.raw("HTTP/1.1 102 Processing\r\n\r\n");
                  call.at(300);
                  call.head("text/plain");
                  call.chunk("late");
                  call.end();
                });
        GatewayRig rig = new VertxRig(client -> gateway.handler(relay(client, scripted.port())));
        Wire first = new Wire(rig.port());
        Wire second = new Wire(rig.port())) {
      first.send(Wire.chat(WHOLE));
      assertThat(first.readHead().status()).isEqualTo(102);
      second.send(Wire.chat(WHOLE));
      assertThat(second.readHead().status()).isEqualTo(102);
    }
    assertThat(tracing.awaitSpans(2, SOON)).allSatisfy(span -> assertThat(span.isError()).isTrue());
  }

  /** A gateway that relays answers without a look at their status. */
  private static BiConsumer<HttpServerRequest, GatewayRequest> relay(HttpClient client, int port) {
    return (request, live) -> {
      UpstreamAttempt attempt = live.attempt("127.0.0.1", port);
      client
          .request(request.method(), port, "127.0.0.1", request.uri())
          .compose(
              call -> {
                VertxGateway.calling(attempt, call);
                return call.send();
              })
          .onSuccess(
              answer -> {
                request.response().setStatusCode(answer.statusCode()).setChunked(true);
                VertxGateway.answering(attempt, answer).pipeTo(request.response());
              });
    };
  }

  @Test
  void resetByTheGateway_hasTheReasonThatTheGatewayRecordsFirst() throws Exception {
    try (GatewayRig rig =
            new VertxRig(
                client ->
                    new VertxGateway(tracing().build())
                        .handler(
                            (request, live) -> {
                              live.timedOut();
                              request.response().reset();
                            }));
        Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat(WHOLE));
      assertThat(gatewaySpan().attribute("error.type")).isEqualTo("timeout");
    }
  }

  @Test
  void handlersOfAUser_findNoCurrentContext_unlessABridgeIsGiven() throws Exception {
    assertThat(currentIn(new VertxGateway(tracing().build()))).isFalse();
    assertThat(currentIn(new VertxGateway(tracing().build(), CurrentRequest.withoutLogs())))
        .isTrue();
  }

  /** Returns whether a handler of this gateway has a current span. */
  private static boolean currentIn(VertxGateway gateway) throws Exception {
    CompletableFuture<Boolean> found = new CompletableFuture<>();
    try (GatewayRig rig =
            new VertxRig(
                client ->
                    gateway.handler(
                        (request, live) -> {
                          found.complete(Span.current().getSpanContext().isValid());
                          request.response().end();
                        }));
        Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat(WHOLE));
      assertThat(wire.read().status()).isEqualTo(200);
    }
    return found.get(10, TimeUnit.SECONDS);
  }
}
