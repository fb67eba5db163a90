package io.inferspan.samples.gateway;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LlmGatewayTest {

  /** The port of tcpmux, on which no server listens. */
  private static final String UNREACHABLE = "127.0.0.1:1";

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final String WHOLE =
      "{\"model\":\"tiny\",\"max_tokens\":8,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String STREAM =
      WHOLE.replace("\"max_tokens\"", "\"stream\":true,\"max_tokens\"");

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
  private final FakeEngine first = FakeEngine.start();
  private final FakeEngine second = FakeEngine.start();

  @AfterEach
  void stop() {
    first.close();
    second.close();
  }

  /** Returns all spans of requests; the picker's startup is a separate trace. */
  private List<SpanRecord> spans() {
    return tracing.spans().stream()
        .filter(span -> !span.name().equals("llm_d.epp.startup"))
        .toList();
  }

  private SpanRecord span(String name) {
    return tracing.spans().stream()
        .filter(span -> span.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is not among " + tracing.spans()));
  }

  /** Returns the request's span after its end; it is the last span of its trace to end. */
  private SpanRecord requestSpan() throws InterruptedException {
    long end = System.nanoTime() + SOON.toNanos();
    while (tracing.spans().stream().noneMatch(span -> span.name().equals("gateway.request"))) {
      assertThat(System.nanoTime()).as("the request's span has ended").isLessThan(end);
      Thread.sleep(2);
    }
    return span("gateway.request");
  }

  @Test
  void request_isScheduledAndAnswered_inTheCallersTrace() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      HttpResponse<String> answer = gateway.chat(WHOLE, "traceparent", PARENT);

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("\"model\":\"tiny\"");
      assertThat(requestSpan().traceId()).isEqualTo(PARENT.substring(3, 35));
    }
    assertThatSpans(spans())
        .isOneTrace()
        .hasTree(
            """
            gateway.request [SERVER] {gen_ai.request.model=tiny, gen_ai.request.max_tokens=8, \
            gen_ai.request.stream=false, gen_ai.request.id=*, http.response.status_code=200}
              run_scheduler_profile
                filter_endpoints {llm_d.epp.filter.filtered_endpoints=1}
                llm_d.epp.scoring
                  llm_d.epp.scorer.prefix-cache-scorer
                  llm_d.epp.scorer.active-request-scorer
                pick_endpoints
              llm_d.epp.prerequest.pd_disaggregation {llm_d.epp.pd.disaggregation_used=false}
            """);
    EngineRequest seen = first.awaitRequests(1, SOON).get(0);
    assertThat(seen.headers("traceparent"))
        .singleElement()
        .asString()
        .startsWith(PARENT.substring(0, 36))
        .isNotEqualTo(PARENT);
    assertThat(seen.headers("x-request-id")).hasSize(1);
  }

  @Test
  void stream_isForwarded_andItsFirstTokenIsRecorded() throws Exception {
    first.script(EngineScript.builder().prefill(Duration.ofMillis(30)).tokens(5).build());
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.chat(STREAM).body()).endsWith("data: [DONE]\n\n");

      SpanRecord span = requestSpan();
      assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(5L);
      assertThat((double) value(span, "inferspan.response.first_token_ms"))
          .isGreaterThanOrEqualTo(30);
    }
  }

  private static Object value(SpanRecord span, String key) {
    Object value = span.attribute(key);
    assertThat(value).as(key).isNotNull();
    return value == null ? "" : value;
  }

  @Test
  void unavailableEngine_isReplacedByAnother() throws Exception {
    EngineScript unavailable = EngineScript.builder().failWith(503, "busy").build();
    first.script(unavailable);
    second.script(unavailable);
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first, second))) {
      assertThat(gateway.chat(WHOLE).statusCode()).isEqualTo(503);
      assertThat(requestSpan().attribute("inferspan.gateway.attempts")).isEqualTo(2L);
    }
    assertThat(first.requestCount()).isEqualTo(1);
    assertThat(second.requestCount()).isEqualTo(1);
    assertThat(tracing.spans().stream().filter(span -> span.name().equals("gateway.attempt")))
        .hasSize(2)
        .allSatisfy(
            span -> assertThat(span.attribute("http.response.status_code")).isEqualTo(503L));
  }

  @Test
  void unreachableEngine_isReplacedByAnother() throws Exception {
    try (RunningGateway gateway =
        RunningGateway.start(
            builder -> builder.telemetry(telemetry),
            "--decode=" + UNREACHABLE + "," + first.authority())) {
      // Each attempt picks the first engine at random.
      for (int i = 0; i < 64 && !retried(); i++) {
        tracing.clear();
        assertThat(gateway.chat(WHOLE).statusCode()).isEqualTo(200);
        requestSpan();
      }
      assertThat(
              tracing.spans().stream()
                  .filter(span -> span.name().equals("gateway.attempt"))
                  .map(span -> span.attribute("http.request.resend_count")))
          .containsExactlyInAnyOrder(0L, 1L);
    }
  }

  private boolean retried() {
    return tracing.spans().stream().anyMatch(span -> span.name().equals("gateway.attempt"));
  }

  @Test
  void noEngine_is502() throws Exception {
    try (RunningGateway gateway =
        RunningGateway.start(builder -> builder.telemetry(telemetry), "--decode=" + UNREACHABLE)) {
      assertThat(gateway.chat(WHOLE).statusCode()).isEqualTo(502);
      assertThat(value(requestSpan(), "error.type").toString()).contains("Connect");
    }
  }

  @Test
  void silentEngine_is504() throws Exception {
    first.script(EngineScript.builder().slowHeaders(Duration.ofSeconds(30)).build());
    try (RunningGateway gateway =
        RunningGateway.start(telemetry, List.of(first), "--answer-timeout-seconds=1")) {
      assertThat(gateway.chat(WHOLE).statusCode()).isEqualTo(504);
      assertThat(requestSpan().attribute("error.type")).isEqualTo("timeout");
      assertThat(requestSpan().attribute("http.response.status_code")).isEqualTo(504L);
    }
  }

  @Test
  void truncatedEngineResponse_truncatesTheResponse() throws Exception {
    first.script(EngineScript.builder().tokens(9).cutAfterTokens(3).build());
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(catchThrowable(() -> gateway.chat(STREAM))).isInstanceOf(IOException.class);
      SpanRecord span = requestSpan();
      assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(3L);
      assertThat(span.attribute("error.type")).isNotNull();
    }
    assertThat(first.requestCount()).isEqualTo(1);
  }

  @Test
  void disconnectedClient_cancelsTheEnginesRequest() throws Exception {
    first.script(EngineScript.builder().tokens(50).stallAfterTokens(3).build());
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
        socket.getOutputStream().write(raw(STREAM));
        byte[] heard = new byte[64];
        assertThat(socket.getInputStream().read(heard)).isPositive();
      }
      EngineRequest request = first.awaitRequests(1, SOON).get(0);
      assertThat(request.awaitEnd(SOON)).isEqualTo(EngineRequest.Outcome.CLIENT_GONE);
      assertThat(requestSpan().attribute("error.type")).isEqualTo("client_disconnected");
    }
  }

  private static byte[] raw(String body) {
    return ("POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void bodyThatIsNotJson_is400_andReachesNoEngine() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      for (String body : List.of("", "nonsense", "[1]", "{\"model\":", "{\"a\":1")) {
        assertThat(gateway.chat(body).statusCode()).as(body).isEqualTo(400);
      }
      assertThat(first.requestCount()).isZero();
      assertThat(tracing.awaitSpans(6, SOON)).hasSize(6);
    }
  }

  @Test
  void longBody_is413() throws Exception {
    try (RunningGateway gateway =
        RunningGateway.start(telemetry, List.of(first), "--max-body-bytes=1000")) {
      HttpResponse<String> answer = gateway.chat(WHOLE.replace("hi", "x".repeat(100_000)));

      assertThat(answer.statusCode()).isEqualTo(413);
      assertThat(requestSpan().attribute("http.response.status_code")).isEqualTo(413L);
      assertThat(first.requestCount()).isZero();
    }
  }

  @Test
  void images_areCounted() throws Exception {
    String image = "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://a/1.png\"}}]";
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.chat(WHOLE.replace("\"hi\"", image)).statusCode()).isEqualTo(200);
      requestSpan();
    }
    SpanRecord prepared = span("llm_d.epp.prerequest.pd_disaggregation");
    assertThat(prepared.attribute("mm.modality")).isEqualTo("image");
    assertThat(prepared.attribute("mm.hash_count")).isEqualTo(1L);
  }

  @Test
  void longRequestId_isTruncatedOnEverySpan() throws Exception {
    String id = "i".repeat(5000);
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.chat(WHOLE, "x-request-id", id).statusCode()).isEqualTo(200);
      requestSpan();
    }
    assertThat(first.awaitRequests(1, SOON).get(0).header("x-request-id")).isEqualTo(id);
    assertThat(spans())
        .filteredOn(span -> span.attribute("gen_ai.request.id") != null)
        .hasSizeGreaterThan(3)
        .allSatisfy(
            span -> assertThat(span.attribute("gen_ai.request.id")).isEqualTo("i".repeat(128)));
  }

  @Test
  void bodyInManyPieces_isForwardedUnchanged() throws Exception {
    StringBuilder words = new StringBuilder();
    for (int i = 0; words.length() < 4_000_000; i++) {
      words.append(i).append(' ');
    }
    String body = WHOLE.replace("hi", words);
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.chat(body).statusCode()).isEqualTo(200);
    }
    assertThat(first.awaitRequests(1, SOON).get(0).bodyText()).isEqualTo(body);
  }

  @Test
  void clientsRoutingHeaders_areRemoved_onEveryPath() throws Exception {
    String[] headers = {"x-prefiller-host-port", "evil:1", "x-mine", "kept"};
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      gateway.chat(WHOLE, headers);
      gateway.get("/v1/models", headers);
      requestSpan();
    }
    assertThat(first.awaitRequests(2, SOON))
        .allSatisfy(
            seen -> {
              assertThat(seen.header("x-prefiller-host-port")).isNull();
              assertThat(seen.header("x-mine")).isEqualTo("kept");
            });
  }

  @Test
  void otherPaths_areForwarded_exceptHealth() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.get("/health").statusCode()).isEqualTo(200);
      assertThat(gateway.get("/v1/models").body()).contains("\"data\"");
      requestSpan();
    }
    assertThat(spans()).extracting(SpanRecord::name).containsExactly("gateway.request");
  }

  @Test
  void faviconRequest_isNeitherForwardedNorTraced() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(first))) {
      assertThat(gateway.get("/favicon.ico").statusCode()).isEqualTo(404);
    }
    assertThat(first.requestCount()).isZero();
    assertThat(spans()).isEmpty();
  }

  @Test
  void gatewayWithoutTelemetry_forwardsTraceHeaders() throws Exception {
    try (RunningGateway gateway = RunningGateway.start((Telemetry) null, List.of(first))) {
      assertThat(gateway.chat(WHOLE, "traceparent", PARENT).statusCode()).isEqualTo(200);
    }
    assertThat(first.awaitRequests(1, SOON).get(0).headers("traceparent")).containsExactly(PARENT);
    assertThat(tracing.spans()).isEmpty();
  }

  @Test
  void metrics_haveTheTraceOfASampledRequest() throws Exception {
    try (RunningGateway gateway =
        RunningGateway.start(telemetry, List.of(first), "--metrics-port=0")) {
      gateway.chat(STREAM, "traceparent", PARENT);
      requestSpan();

      assertThat(gateway.metrics().lines())
          .anySatisfy(
              line ->
                  assertThat(line)
                      .startsWith("gen_ai_server_time_to_first_token_seconds_bucket")
                      .contains("gen_ai_request_model=\"tiny\"", "trace_id=\"0af7651916cd43dd"));
    }
  }
}
