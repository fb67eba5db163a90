package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(Cleanliness.class)
final class SglangTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final EngineScript NEVER =
      EngineScript.builder().queue(Duration.ofHours(1)).build();

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private static SidecarRig.Builder sglangBefore(int decoderPort) {
    return SidecarRig.before(decoderPort).with("--kv-connector=sglang");
  }

  @Test
  void bothStages_getTheClientsBody_withTheSameRoom() {
    String body =
        "{\"model\":\"m\", \"max_tokens\":50,\"stream\":false,\"seed\":9007199254740993,"
            + "\"x\":1,\"x\":2,\"bootstrap_room\":1}";
    try (ScriptedEngine prefiller = ScriptedEngine.answering("{}");
        ScriptedEngine decoder = ScriptedEngine.answering("{\"id\":\"decoded\"}");
        SidecarRig sidecar = sglangBefore(decoder.port()).start()) {
      long before = System.currentTimeMillis();
      HttpResponse<String> answer =
          sidecar.post(CHAT, body, PREFILLER, "http://" + prefiller.authority());

      assertThat(answer.body()).isEqualTo("{\"id\":\"decoded\"}");
      String decoded = decoder.requests().getFirst().getBodyAsString();
      JsonNode asked = ScriptedEngine.parse(decoded);
      long room = asked.get("bootstrap_room").longValue();
      assertThat(room / 1_000_000).isBetween(before, System.currentTimeMillis() + 1);
      assertThat(decoded)
          .isEqualTo(
              body.replace("\"bootstrap_room\":1}", "\"bootstrap_room\":" + room)
                  + ",\"bootstrap_host\":\"127.0.0.1\",\"bootstrap_port\":8998}");
      assertThat(await(prefiller)).isEqualTo(decoded);
      assertThat(decoder.requests().getFirst().containsHeader("x-request-id")).isFalse();
    }
  }

  private static String await(ScriptedEngine engine) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (engine.requests().isEmpty() && System.nanoTime() - deadline < 0) {
      Thread.onSpinWait();
    }
    return engine.requests().getFirst().getBodyAsString();
  }

  @Test
  void bootstrapPort_isReadFromTheEnvironment() {
    try (ScriptedEngine prefiller = ScriptedEngine.answering("{}");
        ScriptedEngine decoder = ScriptedEngine.answering("{}");
        SidecarRig sidecar =
            sglangBefore(decoder.port()).env("SGLANG_BOOTSTRAP_PORT", "9001").start()) {
      sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority());

      assertThat(decoder.onlyBody().get("bootstrap_port").intValue()).isEqualTo(9001);
    }
  }

  @Test
  void hangingPrefill_doesNotDelayTokens() throws Exception {
    try (FakeEngine prefiller = FakeEngine.builder().script(NEVER).start();
        FakeEngine decoder = FakeEngine.start();
        SidecarRig sidecar = sglangBefore(decoder.port()).start()) {
      decoder.script(EngineScript.builder().tokens(3).build());

      HttpResponse<String> answer =
          sidecar.post(CHAT, "{\"stream\":true}", PREFILLER, prefiller.authority());

      assertThat(answer.body()).contains("tok0", "tok2").endsWith("data: [DONE]\n\n");
      EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
      assertThat(prefill.outcome()).isEqualTo(EngineRequest.Outcome.RUNNING);
    }
  }

  @Test
  void disconnectedClient_cancelsDecodeButNotPrefill() throws Exception {
    try (FakeEngine prefiller = FakeEngine.builder().script(NEVER).start();
        FakeEngine decoder = FakeEngine.start();
        SidecarRig sidecar = sglangBefore(decoder.port()).start()) {
      decoder.script(EngineScript.builder().tokens(9).stallAfterTokens(1).build());
      leaveAfterFirstByte(sidecar, prefiller);

      EngineRequest decode = decoder.awaitRequests(1, LIMIT).getFirst();
      assertThat(decode.awaitEnd(LIMIT)).isEqualTo(EngineRequest.Outcome.CLIENT_GONE);
      EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
      assertThat(prefill.outcome()).isEqualTo(EngineRequest.Outcome.RUNNING);
    }
  }

  private static void leaveAfterFirstByte(SidecarRig sidecar, FakeEngine prefiller)
      throws IOException, InterruptedException {
    HttpRequest request =
        sidecar
            .request(CHAT, PREFILLER, prefiller.authority())
            .POST(HttpRequest.BodyPublishers.ofString("{\"stream\":true}"))
            .build();
    try (InputStream body =
        sidecar.client().send(request, HttpResponse.BodyHandlers.ofInputStream()).body()) {
      assertThat(body.read()).isEqualTo('d');
    }
  }

  @Test
  void hangingPrefill_isCancelledAfterTheLingerTimeout() throws Exception {
    try (FakeEngine prefiller = FakeEngine.builder().script(NEVER).start();
        ScriptedEngine decoder = ScriptedEngine.answering("{}");
        SidecarRig sidecar =
            sglangBefore(decoder.port())
                .with("--prefill-linger-timeout=50ms")
                .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
                .start()) {
      assertThat(sidecar.post(CHAT, "{}", PREFILLER, prefiller.authority()).statusCode())
          .isEqualTo(200);

      EngineRequest prefill = prefiller.awaitRequests(1, LIMIT).getFirst();
      assertThat(prefill.awaitEnd(LIMIT)).isEqualTo(EngineRequest.Outcome.CLIENT_GONE);
      List<SpanRecord> spans = tracing.awaitSpans(6, LIMIT);
      SpanRecord stage = SidecarRig.only(spans, "prefill");
      assertThat(stage.attribute("error.type")).isEqualTo("timeout");
      assertThat(stage.duration()).isGreaterThanOrEqualTo(Duration.ofMillis(50));
      assertThat(SidecarRig.only(spans, "forward_request").isError()).isFalse();
    }
  }

  @Test
  void failedPrefill_isOnlyVisibleOnItsSpan() {
    try (ScriptedEngine decoder = ScriptedEngine.answering("{\"id\":\"decoded\"}");
        SidecarRig sidecar =
            sglangBefore(decoder.port())
                .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
                .start()) {
      HttpResponse<String> answer =
          sidecar.post(CHAT, "{}", PREFILLER, "127.0.0.1:" + FreePort.next());

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("{\"id\":\"decoded\"}");
      List<SpanRecord> spans = tracing.awaitSpans(6, LIMIT);
      SpanRecord prefill = SidecarRig.only(spans, "prefill");
      SpanRecord decode = SidecarRig.only(spans, "decode");
      SpanRecord request = SidecarRig.only(spans, "forward_request");
      assertThat(prefill.isError()).isTrue();
      assertThat(prefill.attribute("llm_d.pd_proxy.prefill.async")).isEqualTo(true);
      assertThat(prefill.attribute("llm_d.pd_proxy.bootstrap_room"))
          .isEqualTo(decoder.onlyBody().get("bootstrap_room").longValue());
      assertThat(decode.isError()).isFalse();
      assertThat(decode.parentSpanId()).isEqualTo(prefill.spanId());
      assertThat(decode.attribute("llm_d.pd_proxy.decode.concurrent_with_prefill")).isEqualTo(true);
      assertThat(decode.attribute("llm_d.pd_proxy.concurrent_pd")).isEqualTo(true);
      assertThat(prefill.parentSpanId()).isEqualTo(request.spanId());
      assertThat(request.isError()).isFalse();
    }
  }
}
