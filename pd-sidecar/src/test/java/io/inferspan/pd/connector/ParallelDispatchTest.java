package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.TriggeredEngine;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code nixlv2} in WRITE mode, with both stages at once. */
@ExtendWith(Cleanliness.class)
final class ParallelDispatchTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final EngineScript NEVER =
      EngineScript.builder().queue(Duration.ofHours(1)).build();

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeEngine prefiller = FakeEngine.start();
  private final FakeEngine decoder = FakeEngine.start();

  @AfterEach
  void stop() {
    prefiller.close();
    decoder.close();
  }

  private SidecarRig.Builder parallel(String... flags) {
    return SidecarRig.before(decoder.port())
        .env("POD_IP", "10.1.2.3")
        .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
        .with("--moriio-write-mode", "--moriio-parallel-dispatch")
        .with(flags);
  }

  private HttpResponse<String> post(SidecarRig sidecar, String body) {
    return sidecar.post(CHAT, body, PREFILLER, prefiller.authority());
  }

  private static JsonNode params(FakeEngine engine) {
    String body = engine.awaitRequests(1, LIMIT).getFirst().bodyText();
    return ScriptedEngine.parse(body).get("kv_transfer_params");
  }

  @Test
  void decode_getsTheParamsThatPrefillWouldReturn() {
    try (SidecarRig sidecar =
        parallel(
                "--moriio-prefill-notify-port=1001",
                "--moriio-prefill-handshake-port=1002",
                "--moriio-dp-size=8")
            .start()) {
      assertThat(post(sidecar, "{\"max_tokens\":2}").statusCode()).isEqualTo(200);
    }

    EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
    String id = prefill.headers("x-request-id").getLast();
    int rank = WriteTransfer.rank(id, 8);
    assertThat(params(decoder))
        .isEqualTo(
            ScriptedEngine.parse(
                """
                {"do_remote_prefill":true,"do_remote_decode":false,
                 "remote_engine_id":"127.0.0.1:1002","remote_block_ids":[],
                 "remote_host":"127.0.0.1","remote_port":1002,"remote_notify_port":1001,
                 "remote_dp_rank":%d,"remote_dp_rank_override":true,
                 "remote_handshake_port":1002,"transfer_id":"tx%s","tp_size":1,
                 "remote_dp_size":8}\
                """
                    .formatted(rank, id)));
    assertThat(params(prefiller).get("remote_host").textValue()).isEqualTo("10.1.2.3");
    assertThat(params(prefiller).get("remote_dp_rank").intValue()).isEqualTo(rank);
    EngineRequest decode = decoder.requests().getFirst();
    assertThat(decode.header("x-request-id")).isEqualTo(id);
    for (EngineRequest leg : List.of(prefill, decode)) {
      assertThat(leg.headers("x-data-parallel-rank")).containsExactly(Integer.toString(rank));
    }
  }

  @Test
  void decodeResponse_isHeldUntilPrefillSucceeds() throws Exception {
    String events =
        """
        data: {"choices":[{"delta":{"content":"a"}}]}

        : comment
        data: {"usage":{"prompt_tokens_details":{"cached_tokens":49}}, "x" :1}

        data: [DONE]

        """;
    try (ScriptedEngine scripted = ScriptedEngine.answering("");
        TriggeredEngine told = TriggeredEngine.start();
        SidecarRig sidecar = parallel("--model-server-port=" + scripted.port()).start()) {
      scripted.answer(
          ScriptedEngine.json(200, events).withHeader("content-type", "text/event-stream"));
      CompletableFuture<HttpResponse<String>> answer =
          send(sidecar, "{\"stream\":true}", told.authority());
      while (scripted.requests().isEmpty()) {
        Thread.onSpinWait();
      }
      assertThatThrownBy(() -> answer.get(200, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      told.answer(200, "{}");

      HttpResponse<String> answered = answer.get(5, TimeUnit.SECONDS);
      assertThat(answered.headers().firstValue("content-type").orElse(""))
          .startsWith("text/event-stream");
      assertThat(answered.body()).isEqualTo(events);
    }
  }

  @Test
  void beforePrefillEnds_onlyAPartOfALongDecodeIsRead() throws Exception {
    int length = 48 << 20;
    CompletableFuture<Void> sent = new CompletableFuture<>();
    RawServer.Script script =
        (wire, server) -> {
          server.request(wire);
          wire.send("HTTP/1.1 200 OK\r\ncontent-length: " + length + "\r\n\r\n");
          wire.send("x".repeat(length));
          sent.complete(null);
        };
    try (RawServer raw = RawServer.running(script);
        TriggeredEngine told = TriggeredEngine.start();
        SidecarRig sidecar = parallel("--model-server-port=" + raw.port()).start()) {
      CompletableFuture<HttpResponse<String>> answer = send(sidecar, "{}", told.authority());
      assertThatThrownBy(() -> sent.get(500, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      told.answer(200, "{}");

      assertThat(answer.get(5, TimeUnit.SECONDS).body()).hasSize(length);
    }
  }

  @Test
  void afterPrefill_tokensAreForwarded_untilTheClientDisconnects() throws Exception {
    decoder.script(EngineScript.builder().tokens(9).stallAfterTokens(1).build());
    try (SidecarRig sidecar = parallel().start();
        InputStream body =
            sidecar
                .client()
                .send(
                    request(sidecar, "{\"stream\":true}", prefiller.authority()),
                    HttpResponse.BodyHandlers.ofInputStream())
                .body()) {
      assertThat(body.read()).isEqualTo('d');
      assertThat(decoder.requests().getFirst().outcome()).isEqualTo(Outcome.RUNNING);
      body.close();

      assertThat(decoder.requests().getFirst().awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
    }
  }

  @Test
  void prefillError_replacesAFinishedDecode() throws Exception {
    try (TriggeredEngine told = TriggeredEngine.start();
        SidecarRig sidecar = parallel().start()) {
      CompletableFuture<HttpResponse<String>> answer = send(sidecar, "{}", told.authority());
      assertThat(decoder.awaitRequests(1, LIMIT).getFirst().awaitEnd(LIMIT))
          .isEqualTo(Outcome.ANSWERED);
      told.answer(429, "{\"why\":\"busy\"}");

      HttpResponse<String> answered = answer.get(5, TimeUnit.SECONDS);
      assertThat(answered.statusCode()).isEqualTo(429);
      assertThat(answered.body()).isEqualTo("{\"why\":\"busy\"}");
      assertThat(answered.headers().firstValue("retry-after")).contains("3");
    }
  }

  @Test
  void prefillError_cancelsDecode() {
    decoder.script(NEVER);
    prefiller.script(EngineScript.builder().failWith(500, "broken").build());
    try (SidecarRig sidecar = parallel().start()) {
      HttpResponse<String> answer = post(sidecar, "{}");

      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body()).contains("broken");
      // It is also correct if decode was cancelled before it was sent.
      decoder
          .requests()
          .forEach(decode -> assertThat(decode.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE));
      List<SpanRecord> spans = tracing.awaitSpans(6, LIMIT);
      assertThat(SidecarRig.only(spans, "decode").attribute("error.type"))
          .isEqualTo("prefill_failed");
    }
  }

  @Test
  void prefillTimeout_is504_andCancelsBothStages() {
    decoder.script(NEVER);
    prefiller.script(NEVER);
    try (SidecarRig sidecar = parallel("--moriio-parallel-decode-wait-timeout=500ms").start()) {
      HttpResponse<String> answer = post(sidecar, "{}");

      assertThat(answer.statusCode()).isEqualTo(504);
      assertThat(answer.headers().firstValue("content-type")).contains("application/json");
      assertThat(answer.body())
          .isEqualTo(
              "{\"error\":\"decode aborted: prefill did not complete within the MoRI-IO"
                  + " parallel-dispatch KV-wait timeout\"}");
      for (FakeEngine engine : List.of(prefiller, decoder)) {
        assertThat(engine.requests().getFirst().awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
      }
      List<SpanRecord> spans = tracing.awaitSpans(6, LIMIT);
      assertThat(spans)
          .filteredOn(span -> List.of("prefill", "decode", "forward_request").contains(span.name()))
          .allSatisfy(span -> assertThat(span.attribute("error.type")).isEqualTo("timeout"));
    }
  }

  @Test
  void disconnectedClient_cancelsBothStages() throws Exception {
    decoder.script(NEVER);
    prefiller.script(NEVER);
    try (SidecarRig sidecar = parallel().start()) {
      CompletableFuture<HttpResponse<String>> answer = send(sidecar, "{}", prefiller.authority());
      EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
      EngineRequest decode = decoder.awaitRequests(1, LIMIT).getFirst();
      answer.cancel(true);

      assertThat(prefill.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
      assertThat(decode.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE);
    }
  }

  @Test
  void refusedDecode_is503_andCancelsPrefill() {
    prefiller.script(NEVER);
    try (SidecarRig sidecar = parallel("--model-server-port=" + FreePort.next()).start()) {
      HttpResponse<String> answer = post(sidecar, "{}");

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("\"ServiceUnavailable\"");
      prefiller
          .requests()
          .forEach(prefill -> assertThat(prefill.awaitEnd(LIMIT)).isEqualTo(Outcome.CLIENT_GONE));
      SpanRecord prefill = SidecarRig.only(tracing.awaitSpans(6, LIMIT), "prefill");
      assertThat(prefill.attribute("error.type")).isEqualTo("decode_failed");
    }
  }

  @Test
  void stages_areSiblings_andTheRequestHasTheirDurations() {
    try (SidecarRig sidecar = parallel().start()) {
      post(sidecar, "{}");
    }

    List<SpanRecord> spans = tracing.awaitSpans(6, LIMIT);
    SpanRecord request = SidecarRig.only(spans, "forward_request");
    SpanRecord prefill = SidecarRig.only(spans, "prefill");
    SpanRecord decode = SidecarRig.only(spans, "decode");
    assertThat(prefill.parentSpanId()).isEqualTo(request.spanId());
    assertThat(decode.parentSpanId()).isEqualTo(request.spanId());
    assertThat(prefill.attribute("llm_d.pd_proxy.parallel_dispatch")).isEqualTo(true);
    assertThat(prefill.attribute("llm_d.pd_proxy.prefill.async")).isNull();
    assertThat(request.attribute("llm_d.pd_proxy.parallel_dispatch")).isEqualTo(true);
    assertThat((Double) request.attribute("llm_d.pd_proxy.parallel_window_ms"))
        .isPositive()
        .isLessThanOrEqualTo((Double) request.attribute("llm_d.pd_proxy.total_duration_ms"));
    assertThat(decode.attribute("llm_d.pd_proxy.total_duration_ms")).isNull();
  }

  private static CompletableFuture<HttpResponse<String>> send(
      SidecarRig sidecar, String body, String target) {
    return sidecar
        .client()
        .sendAsync(request(sidecar, body, target), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpRequest request(SidecarRig sidecar, String body, String target) {
    return sidecar
        .request(CHAT, PREFILLER, target)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }
}
