package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(Cleanliness.class)
final class ChunkFaultTest {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final String CHAT = "/v1/chat/completions";
  private static final String MESSAGES =
      "\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeEngine decoder =
      FakeEngine.builder().script(EngineScript.builder().tokens(1000).build()).start();
  private final SidecarRig sidecar = sidecar(decoder.port());

  private SidecarRig sidecar(int decoderPort, String... flags) {
    return SidecarRig.before(decoderPort)
        .with("--decode-chunk-size=40")
        .with(flags)
        .tracedBy(tracing.openTelemetry(), SpanNaming.V0_9)
        .start();
  }

  @AfterEach
  void stop() {
    sidecar.close();
    decoder.close();
  }

  private static String chat(String members) {
    return "{" + members + "," + MESSAGES + "}";
  }

  private ClientStream stream() throws Exception {
    String json = chat("\"stream\":true,\"max_tokens\":100");
    return ClientStream.post(sidecar, CHAT, json);
  }

  @Test
  void errorOfAChunk_isSentToTheClient() {
    decoder.enqueue(
        EngineScript.builder().tokens(100).build(),
        EngineScript.builder()
            .responseHeader("x-why", "busy")
            .failWithBody(429, "application/json", "{\"error\":1}")
            .build());

    HttpResponse<String> answer = sidecar.post(CHAT, chat("\"max_tokens\":100"));

    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.body()).isEqualTo("{\"error\":1}");
    assertThat(answer.headers().firstValue("x-why")).hasValue("busy");
    SpanRecord span = SidecarRig.only(tracing.awaitSpans(5, PATIENCE), "chunked_decode");
    assertThat(span.statusDescription()).isEqualTo("chunk decode failed");
    assertThat(span.attribute("llm_d.pd_proxy.chunked_decode.chunks")).isEqualTo(1L);
  }

  @Test
  void errorDuringAStream_isSentAsAnEvent_andTheStreamIsReset() throws Exception {
    decoder.enqueue(
        EngineScript.builder().tokens(100).build(),
        EngineScript.builder().failWithBody(500, "application/json", "{\"error\":1}").build());

    try (ClientStream stream = stream()) {
      assertThat(stream.readUntil("{\"error\":1}\n\n")).contains("tok39");
      assertThatThrownBy(() -> stream.readUntil("[DONE]")).isInstanceOf(IOException.class);
    }

    List<SpanRecord> spans = tracing.awaitSpans(5, PATIENCE);
    SpanRecord request = SidecarRig.only(spans, "forward_request");
    assertThat(request.statusDescription()).isEqualTo("decode request failed");
    assertThat(request.attribute("error.type")).isEqualTo("500");
    SpanRecord server = parentOf(request, spans);
    assertThat(server.attribute("http.response.status_code")).as("what was sent").isEqualTo(200L);
  }

  private static SpanRecord parentOf(SpanRecord child, List<SpanRecord> spans) {
    return spans.stream()
        .filter(span -> span.spanId().equals(child.parentSpanId()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void decoderThatResetsALaterChunk_resetsTheStream() throws Exception {
    EngineScript cut = EngineScript.builder().cutBeforeHeaders().build();
    decoder.enqueue(EngineScript.builder().tokens(100).build(), cut);

    try (ClientStream stream = stream()) {
      stream.readUntil("tok39");
      assertThatThrownBy(() -> stream.readUntil("[DONE]")).isInstanceOf(IOException.class);
    }
  }

  @Test
  void decoderThatResetsTheFirstChunk_is502() {
    decoder.enqueue(EngineScript.builder().cutBeforeHeaders().build());

    assertThat(sidecar.post(CHAT, chat("\"max_tokens\":100")).statusCode()).isEqualTo(502);
  }

  @Test
  void responseThatIsNotJson_is502() {
    decoder.script(EngineScript.builder().failWithBody(200, "text/plain", "hello").build());

    HttpResponse<String> answer = sidecar.post(CHAT, chat("\"max_tokens\":100"));

    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(ScriptedEngine.parse(answer.body()).get("type").asText()).isEqualTo("BadGateway");
  }

  @Test
  void refusedConnection_is503() {
    try (SidecarRig own = sidecar(FreePort.next())) {
      assertThat(own.post(CHAT, chat("\"max_tokens\":100")).statusCode()).isEqualTo(503);
    }
  }

  @Test
  void generatedText_isLimitedLikeBodies() {
    try (SidecarRig small = sidecar(decoder.port(), "--body-limit=1KiB")) {
      HttpResponse<String> answer = small.post(CHAT, "{" + MESSAGES + "}");

      assertThat(ScriptedEngine.parse(answer.body()).at("/choices/0/finish_reason").asText())
          .isEqualTo("length");
      assertThat(
              ScriptedEngine.parse(answer.body())
                  .at("/choices/0/message/content")
                  .asText()
                  .length())
          .isBetween(1024, 1024 + 300);
    }
  }

  @Test
  void disconnectedClient_endsTheChunks() throws Exception {
    decoder.enqueue(
        EngineScript.builder().tokens(100).build(),
        EngineScript.builder().tokens(100).stallAfterTokens(0).build());
    EngineRequest second;
    try (ClientStream stream = stream()) {
      stream.readUntil("tok39");
      second = decoder.awaitRequests(2, PATIENCE).getLast();
    }

    assertThat(second.awaitEnd(PATIENCE)).isEqualTo(Outcome.CLIENT_GONE);
    SpanRecord span = SidecarRig.only(tracing.awaitSpans(5, PATIENCE), "chunked_decode");
    assertThat(span.isError()).isTrue();
    assertThat(decoder.requestCount()).isEqualTo(2);
  }
}
