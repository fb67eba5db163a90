package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.gateway.Wire.Message;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.EngineScript;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The contract of every adapter, over real sockets. An adapter's test extends it and starts a
 * gateway that uses the adapter and sends everything to one engine. This class covers connections.
 */
public abstract class GatewayContract extends FirstTokenContract {

  private static String asking(String model) {
    return WHOLE.replace("tiny", model);
  }

  private List<Object> models(int spans) {
    return tracing.awaitSpans(spans, SOON).stream()
        .map(span -> span.attribute("gen_ai.request.model"))
        .toList();
  }

  @Test
  void requestsOnOneConnection_haveSpansOfTheirOwn() throws Exception {
    try (GatewayRig gateway = start(tracing().build(), engine.port());
        Wire wire = new Wire(gateway.port())) {
      for (String model : List.of("a", "b", "c")) {
        wire.send(Wire.chat(asking(model)));
        assertThat(wire.read().text()).contains("\"model\":\"" + model + "\"");
      }
    }
    assertThat(models(3)).containsExactly("a", "b", "c");
    assertThat(tracing.spans()).extracting(SpanRecord::traceId).doesNotHaveDuplicates();
  }

  @Test
  void pipelinedRequests_areAnsweredInTheirOrder() throws Exception {
    engine.enqueue(
        EngineScript.builder().prefill(Duration.ofMillis(60)).build(),
        EngineScript.normal(),
        EngineScript.normal());
    try (GatewayRig gateway = start(tracing().build(), engine.port());
        Wire wire = new Wire(gateway.port())) {
      wire.send(
          Wire.chat(asking("a"), "traceparent: " + SAMPLED)
              + Wire.chat(asking("b"))
              + Wire.chat(asking("c")));
      for (String model : List.of("a", "b", "c")) {
        Message answer = wire.read();
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("\"model\":\"" + model + "\"");
      }
    }
    assertThat(models(3)).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(tracing.spans())
        .allSatisfy(
            span ->
                assertThat(span.traceId().equals(TRACE))
                    .isEqualTo("a".equals(span.attribute("gen_ai.request.model"))));
  }

  @Test
  void answerAfterAnInterimOne_reachesNoOtherClient() throws Exception {
    try (ScriptedEngine scripted = new ScriptedEngine(GatewayContract::processing);
        GatewayRig gateway = start(tracing().build(), scripted.port());
        Wire first = new Wire(gateway.port());
        Wire second = new Wire(gateway.port())) {
      first.send(Wire.chat(asking("first")));
      Message early = first.readHead();
      second.send(Wire.chat(asking("second")));
      assertThat(finalAnswer(second, second.readHead())).doesNotContain("first");
      assertThat(finalAnswer(first, early)).doesNotContain("second");
    }
  }

  /** Sends 102, then the requested response, unless the request disables the interim response. */
  private static void processing(ScriptedEngine.Call call) throws IOException {
    if (call.request().text().contains("first")) {
      call.raw("HTTP/1.1 102 Processing\r\n\r\n");
      call.at(300);
    }
    call.head("application/json");
    call.chunk(call.request().body());
    call.end();
  }

  private static String finalAnswer(Wire wire, Message early) throws IOException {
    Message head = early.status() < 200 ? wire.readHead() : early;
    String text = new String(wire.readBody(head), StandardCharsets.UTF_8);
    assertThat(head.status() >= 500 || text.contains("model"))
        .as("%s %s", head.firstLine(), text)
        .isTrue();
    return text;
  }

  @Test
  void slowReader_holdsTheEngineBack() throws Exception {
    byte[] event =
        ("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\""
                + "x".repeat(4000)
                + "\"}}]}\n\n")
            .getBytes(StandardCharsets.UTF_8);
    int events = 16_000;
    AtomicLong sent = new AtomicLong();
    try (ScriptedEngine scripted =
            new ScriptedEngine(
                call -> {
                  call.head("text/event-stream");
                  for (int i = 0; i < events; i++) {
                    call.chunk(event);
                    sent.incrementAndGet();
                  }
                  call.end();
                });
        GatewayRig gateway = start(tracing().build(), scripted.port());
        Wire wire = new Wire(gateway.port())) {
      wire.send(Wire.chat(STREAM));
      Message head = wire.readHead();
      assertThat(whereItStops(sent)).isLessThan(events);
      assertThat(wire.readBody(head)).hasSize(events * event.length);
      assertThat(gatewaySpan().attribute("inferspan.response.tokens")).isEqualTo((long) events);
    }
  }

  /** Returns the number of bytes sent when no more have been sent for a while. */
  private static long whereItStops(AtomicLong sent) throws InterruptedException {
    long before = -1;
    long now = sent.get();
    while (now == 0 || now != before) {
      TimeUnit.MILLISECONDS.sleep(300);
      before = now;
      now = sent.get();
    }
    return now;
  }

  private HttpClient http2(Vertx vertx) {
    return vertx.createHttpClient(
        new HttpClientOptions()
            .setProtocolVersion(HttpVersion.HTTP_2)
            .setHttp2ClearTextUpgrade(false)
            .setHttp2MultiplexingLimit(10));
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }

  private static Future<HttpClientRequest> post(HttpClient client, GatewayRig gateway) {
    return client.request(HttpMethod.POST, gateway.port(), "127.0.0.1", "/v1/chat/completions");
  }

  private static Future<Buffer> ask(HttpClient client, GatewayRig gateway, String body) {
    return post(client, gateway)
        .compose(request -> request.putHeader("traceparent", SAMPLED).send(Buffer.buffer(body)))
        .compose(
            answer -> {
              assertThat(answer.statusCode()).isEqualTo(200);
              assertThat(answer.version()).isEqualTo(HttpVersion.HTTP_2);
              return answer.body();
            });
  }

  @Test
  void http2Streams_haveSpansOfTheirOwn() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (GatewayRig gateway = start(tracing().build(), engine.port())) {
      HttpClient client = http2(vertx);
      Future<Buffer> streamed = ask(client, gateway, STREAM);
      Future<Buffer> whole = ask(client, gateway, asking("b"));
      assertThat(await(streamed).toString()).endsWith("data: [DONE]\n\n");
      assertThat(await(whole).toString()).contains("\"model\":\"b\"");
      assertThat(models(2)).containsExactlyInAnyOrder("tiny", "b");
      assertThat(tracing.spans()).extracting(SpanRecord::traceId).containsOnly(TRACE);
      assertThat(engine.requests())
          .allSatisfy(request -> assertThat(request.headers("traceparent")).hasSize(1));
      await(client.close());
    } finally {
      await(vertx.close());
    }
  }

  @Test
  void http2StreamThatIsReset_endsItsSpan() throws Exception {
    engine.script(EngineScript.builder().tokens(50).stallAfterTokens(3).build());
    Vertx vertx = Vertx.vertx();
    try (GatewayRig gateway = start(tracing().build(), engine.port())) {
      CompletableFuture<Void> begun = new CompletableFuture<>();
      // Keep a reference: Vert.x closes the connections of an unreachable client.
      HttpClient client = http2(vertx);
      HttpClientRequest request = await(post(client, gateway));
      // Requested later, the response could pass before a handler is set.
      request
          .response()
          .onSuccess(
              answer ->
                  answer.handler(
                      piece -> {
                        if (piece.toString().contains("tok2")) {
                          begun.complete(null);
                        }
                      }));
      await(request.end(Buffer.buffer(STREAM)));
      begun.orTimeout(10, TimeUnit.SECONDS).join();
      request.reset();
      SpanRecord span = gatewaySpan();
      assertThat(span.attribute("error.type")).isEqualTo("client_disconnected");
      assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(3L);
      await(client.close());
    } finally {
      await(vertx.close());
    }
  }
}
