package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.EngineClient.CHAT;
import static io.inferspan.testing.engine.EngineClient.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineRequest.Role;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FakeEngineTest {
  private static final String STREAM = "{\"stream\":true}";

  private final FakeEngine engine = FakeEngine.start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void everyRequest_isRecordedAsItWasSent() throws Exception {
    long before = System.nanoTime();
    EngineClient.post(engine, CHAT + "?a=1&b=2", "{\"x\":\"é\"}", "X-Twice", "1", "X-Twice", "2");

    EngineRequest seen = engine.awaitRequests(1, LIMIT).get(0);
    assertThat(seen.method()).isEqualTo("POST");
    assertThat(seen.path()).isEqualTo(CHAT);
    assertThat(seen.query()).isEqualTo("a=1&b=2");
    assertThat(seen.headers("x-tWICE")).containsExactly("1", "2");
    assertThat(seen.headers()).containsKey("Content-Type");
    assertThat(seen.header("absent")).isNull();
    assertThat(seen.bodyText()).isEqualTo("{\"x\":\"é\"}");
    assertThat(seen.body()).isEqualTo("{\"x\":\"é\"}".getBytes(StandardCharsets.UTF_8));
    assertThat(seen.arrivalNanos()).isBetween(before, System.nanoTime());
    assertThat(seen.role()).isEqualTo(Role.WHOLE);
    assertThat(seen.outcome()).isEqualTo(Outcome.ANSWERED);
    assertThat(seen.clientGone()).isFalse();
  }

  @Test
  void prefillResponse_containsTheLocationOfItsBlocks() throws Exception {
    JsonTree json =
        EngineClient.json(
            engine,
            CHAT,
            """
            {"messages":[{"role":"user","content":"%s"}],"max_tokens":1,
             "kv_transfer_params":{"do_remote_decode":true,"do_remote_prefill":false,
             "remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}}"""
                .formatted("word ".repeat(33)));

    assertThat(json.at("choices.0.finish_reason")).isEqualTo("length");
    assertThat(json.at("kv_transfer_params.do_remote_prefill")).isEqualTo(true);
    assertThat(json.at("kv_transfer_params.do_remote_decode")).isEqualTo(false);
    assertThat(json.at("kv_transfer_params.remote_engine_id")).isEqualTo(engine.engineId());
    assertThat(json.at("kv_transfer_params.remote_block_ids")).isEqualTo(List.of(1L, 2L, 3L));
    assertThat(json.at("kv_transfer_params.remote_host")).isEqualTo("127.0.0.1");
    assertThat(json.at("kv_transfer_params.remote_port")).isEqualTo(5600L);
    assertThat(engine.requests().get(0).role()).isEqualTo(Role.PREFILL);
  }

  @Test
  void decodeRequest_recordsItsTransferParamsVerbatim() throws Exception {
    String params = "{\"do_remote_prefill\":true, \"new\" : [1, {\"é\":2.50}]}";

    JsonTree json =
        EngineClient.json(
            engine, CHAT, "{\"x\":\"üü\",\"kv_transfer_params\": " + params + " ,\"n\":1}");

    assertThat(json.at("kv_transfer_params")).isNull();
    assertThat(engine.requests().get(0).role()).isEqualTo(Role.DECODE);
    assertThat(engine.requests().get(0).kvTransferParams()).isEqualTo(params);
  }

  @Test
  void scriptedTransferParams_areSentVerbatim() throws Exception {
    engine.script(EngineScript.builder().kvTransferParams("{\"transfer_mode\": 7}").build());

    assertThat(EngineClient.post(engine, CHAT, "{}").body())
        .contains("\"kv_transfer_params\":{\"transfer_mode\": 7}");
  }

  @Test
  void queuedScripts_applyToOneRequestEach_thenTheDefaultApplies() throws Exception {
    engine.script(EngineScript.builder().content("standing").build());
    engine.enqueue(
        EngineScript.builder().content("first").build(),
        EngineScript.builder().content("second").build());

    EngineClient.send(engine, "GET", "/health");
    for (String expected : List.of("first", "second", "standing", "standing")) {
      assertThat(EngineClient.json(engine, CHAT, "{}").at("choices.0.message.content"))
          .isEqualTo(expected);
    }
  }

  @Test
  void scriptFunction_getsTheRequest_afterQueuedScripts() throws Exception {
    try (FakeEngine choosing =
        FakeEngine.builder()
            .scripts(seen -> EngineScript.builder().content(seen.bodyText().length() + "").build())
            .start()) {
      choosing.enqueue(EngineScript.builder().content("queued").build());

      for (String expected : List.of("queued", "2", "2")) {
        assertThat(EngineClient.json(choosing, CHAT, "{}").at("choices.0.message.content"))
            .isEqualTo(expected);
      }
    }
  }

  @Test
  void disconnectedClient_isDetectedAndCounted() throws Exception {
    engine.script(EngineScript.builder().tokens(9).betweenTokens(Duration.ofHours(1)).build());
    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      EngineClient.readUntil(socket, "tok0");
      assertThat(metrics()).contains("vllm:num_requests_running{engine=\"0\",model_name=");
      assertThat(metrics()).containsPattern("num_requests_running\\{.*} 1.0");
    }

    EngineRequest seen = engine.requests().get(0);
    assertThat(seen.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
    assertThat(seen.clientGone()).isTrue();
    assertThat(metrics()).containsPattern("num_requests_running\\{.*} 0.0");
  }

  @Test
  void clientDisconnectedInTheQueue_isDetected() throws Exception {
    engine.script(EngineScript.builder().queue(Duration.ofHours(1)).build());
    Socket socket = EngineClient.open(engine, CHAT, "{}");
    EngineRequest seen = engine.awaitRequests(1, LIMIT).get(0);
    assertThat(metrics()).containsPattern("num_requests_waiting\\{.*} 1.0");
    socket.close();

    assertThat(seen.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
    assertThat(metrics()).containsPattern("num_requests_waiting\\{.*} 0.0");
  }

  @Test
  void slowClient_receivesEveryTokenOfALongResponse() throws Exception {
    engine.script(EngineScript.builder().tokens(60_000).build());
    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      EngineClient.readUntil(socket, "tok0");
      assertThat(engine.requests().get(0).outcome()).isEqualTo(Outcome.RUNNING);
      byte[] buffer = new byte[1 << 16];
      StringBuilder tail = new StringBuilder();
      while (tail.indexOf("[DONE]") < 0) {
        int read = socket.getInputStream().read(buffer);
        tail.delete(0, Math.max(0, tail.length() - 2000));
        tail.append(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
      }
      assertThat(tail).contains("tok59999");
    }
  }

  @Test
  void fixedPages_areLikeVllms() throws Exception {
    engine.script(EngineScript.builder().model("served").build());

    assertThat(EngineClient.send(engine, "GET", "/health").body()).isEmpty();
    assertThat(EngineClient.send(engine, "HEAD", "/health").statusCode()).isEqualTo(200);
    assertThat(EngineClient.send(engine, "GET", "/version").body()).contains("\"version\"");
    JsonTree models = JsonTree.of(EngineClient.send(engine, "GET", "/v1/models").body());
    assertThat(models.at("data.0.id")).isEqualTo("served");
    JsonTree query = JsonTree.of(EngineClient.send(engine, "GET", "/query").body());
    assertThat(query.at("0.engine_id")).isEqualTo(engine.engineId());
    assertThat(metrics()).contains("vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"served\"}");
    assertThat(engine.requests()).allMatch(seen -> seen.role() == Role.NONE);
  }

  @Test
  void unknownPathsAndMethods_areRecordedAndRejected() throws Exception {
    HttpResponse<String> unknown = EngineClient.send(engine, "DELETE", "/any/path?q");

    assertThat(unknown.statusCode()).isEqualTo(404);
    assertThat(EngineClient.send(engine, "GET", CHAT).statusCode()).isEqualTo(405);
    assertThat(EngineClient.send(engine, "POST", "/health").statusCode()).isEqualTo(405);
    assertThat(engine.requests())
        .extracting(EngineRequest::method)
        .containsExactly("DELETE", "GET", "POST");
  }

  @Test
  void bodyAboveTheLimit_isRejected() throws Exception {
    String head = "POST " + CHAT + " HTTP/1.1\r\nHost: engine\r\nContent-Length: %d\r\n\r\n";
    try (Socket socket = new Socket(engine.host(), engine.port())) {
      byte[] body = new byte[EngineHttp.MAX_BODY_BYTES + 1];
      socket.getOutputStream().write(head.formatted(body.length).getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().write(body);

      assertThat(EngineClient.readToEnd(socket)).startsWith("HTTP/1.1 413");
      assertThat(engine.requestCount()).isZero();
    }
  }

  @Test
  void awaitRequests_reportsTheReceivedRequestsOnTimeout() throws Exception {
    EngineClient.send(engine, "GET", "/health");

    assertThatThrownBy(() -> engine.awaitRequests(2, Duration.ofMillis(20)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 of 2")
        .hasMessageContaining("GET /health");
    engine.clearRequests();
    assertThat(engine.requests()).isEmpty();
    assertThat(engine.requestCount()).isZero();
  }

  @Test
  void close_cutsRunningRequests_andIsIdempotent() throws Exception {
    engine.script(EngineScript.builder().stallAfterTokens(1).build());
    try (Socket socket = EngineClient.open(engine, CHAT, STREAM)) {
      EngineClient.readUntil(socket, "tok0");
      EngineRequest seen = engine.requests().get(0);

      engine.close();
      engine.close();

      assertThat(seen.awaitEnd(LIMIT)).isEqualTo(Outcome.CUT);
      assertThatThrownBy(() -> EngineClient.post(engine, CHAT, "{}"))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void usedPort_isReportedWithItsAddress() {
    assertThatThrownBy(() -> FakeEngine.builder().port(engine.port()).start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("127.0.0.1:" + engine.port());
    assertThatThrownBy(() -> FakeEngine.builder().port(70_000))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void threads_areDaemons() {
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("vert.x"))
        .forEach(thread -> assertThat(thread.isDaemon()).as(thread.getName()).isTrue());
  }

  private String metrics() throws Exception {
    return EngineClient.send(engine, "GET", "/metrics").body();
  }
}
