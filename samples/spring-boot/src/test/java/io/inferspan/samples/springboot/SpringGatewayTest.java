package io.inferspan.samples.springboot;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

class SpringGatewayTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":5,\"messages\":[{\"role\":\"user\",\"content\":\"is"
          + " there a train at noon\"}]}";

  @Test
  void springsOpenTelemetry_isTheOnlyOne() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        FakeEngine engine = FakeEngine.start();
        ConfigurableApplicationContext context = start(engine.authority(), collector)) {
      HttpResponse<String> answer = ask(context);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("data: [DONE]");

      List<SpanRecord> spans = collector.awaitTrace(TRACE, 2, Duration.ofSeconds(10));
      assertThatSpans(spans)
          .hasTree(
              """
              http post /v1/chat/completions [SERVER]
                gateway.request [SERVER] {gen_ai.request.model=tiny, \
              gen_ai.usage.completion_tokens=5, http.response.status_code=200, \
              inferspan.response.first_token_ms=*, inferspan.response.complete=true}
              """);
      assertThat(spans).extracting(SpanRecord::serviceName).containsOnly("spring-gateway");
      assertThat(context.getBean(Telemetry.class).openTelemetry())
          .isSameAs(context.getBean(OpenTelemetry.class));
      assertThat(engine.requests().getFirst().header("authorization")).isEqualTo("Bearer k");
      String ours = assertThatSpans(spans).span("gateway.request").spanId();
      assertThat(engine.requests().getFirst().headers("traceparent"))
          .containsExactly("00-" + TRACE + "-" + ours + "-01");
    }
  }

  @Test
  void unreachableEngine_is502_andFailsTheSpan() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        ConfigurableApplicationContext context = start("127.0.0.1:1", collector)) {
      assertThat(ask(context).statusCode()).isEqualTo(502);

      assertThatSpans(collector.awaitTrace(TRACE, 2, Duration.ofSeconds(10)))
          .hasTree(
              """
              http post /v1/chat/completions [SERVER]
                gateway.request [SERVER] {http.response.status_code=502, error.type=*} ERROR
              """);
    }
  }

  @Test
  void truncatedEngineResponse_truncatesTheResponse_andFailsTheSpan() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        FakeEngine engine =
            FakeEngine.builder()
                .script(EngineScript.builder().tokens(9).cutAfterTokens(3).build())
                .start();
        ConfigurableApplicationContext context = start(engine.authority(), collector)) {
      assertThatThrownBy(() -> ask(context)).isInstanceOf(IOException.class);

      List<SpanRecord> spans = collector.awaitTrace(TRACE, 2, Duration.ofSeconds(10));
      assertThat(assertThatSpans(spans).span("gateway.request"))
          .satisfies(span -> assertThat(span.isError()).isTrue())
          .satisfies(
              span -> assertThat(span.attribute("inferspan.response.complete")).isEqualTo(false));
    }
  }

  @Test
  void disconnectedClient_stopsTheEngine() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        FakeEngine engine =
            FakeEngine.builder()
                .script(
                    EngineScript.builder()
                        .tokens(1000)
                        .betweenTokens(Duration.ofMillis(20))
                        .build())
                .start();
        ConfigurableApplicationContext context = start(engine.authority(), collector)) {
      try (HttpClient client = HttpClient.newHttpClient();
          InputStream response =
              client
                  .send(
                      request(context, BODY.replace("\"max_tokens\":5,", "\"max_tokens\":1000,")),
                      HttpResponse.BodyHandlers.ofInputStream())
                  .body()) {
        assertThat(response.read()).isNotNegative();
      }

      EngineRequest asked = engine.requests().getFirst();
      assertThat(asked.awaitEnd(Duration.ofSeconds(10)))
          .isEqualTo(EngineRequest.Outcome.CLIENT_GONE);
      List<SpanRecord> spans = collector.awaitTrace(TRACE, 2, Duration.ofSeconds(10));
      assertThat(assertThatSpans(spans).span("gateway.request").attribute("error.type"))
          .isEqualTo("client_disconnected");
    }
  }

  @Test
  void responseWithoutContentType_isForwardedWithoutOne() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        ServerSocket engine = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ConfigurableApplicationContext context =
            start("127.0.0.1:" + engine.getLocalPort(), collector)) {
      Thread.startVirtualThread(() -> answerWithoutAContentType(engine));

      HttpResponse<String> answer = ask(context);

      assertThat(answer.body()).isEqualTo("plain");
      assertThat(answer.headers().firstValue("content-type")).isEmpty();
    }
  }

  private static void answerWithoutAContentType(ServerSocket server) {
    try (Socket engine = server.accept()) {
      byte[] asked = engine.getInputStream().readNBytes(1);
      String answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain";
      engine.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
      // Reads until the gateway closes: unread bytes would cause a reset.
      while (asked.length > 0 && engine.getInputStream().read() >= 0) {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ConfigurableApplicationContext start(String engine, OtlpReceiver collector) {
    return start(engine, collector.httpTracesEndpoint());
  }

  static ConfigurableApplicationContext start(
      String engine, String collector, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--server.port=0");
    all.add("--engine=http://" + engine);
    // The properties of Spring Boot 4 and of Spring Boot 3.
    all.add("--management.opentelemetry.tracing.export.otlp.endpoint=" + collector);
    all.add("--management.opentelemetry.tracing.export.schedule-delay=50ms");
    all.add("--management.otlp.tracing.endpoint=" + collector);
    all.add("--management.tracing.opentelemetry.export.schedule-delay=50ms");
    return SpringApplication.run(SpringGateway.class, all.toArray(String[]::new));
  }

  static int port(ConfigurableApplicationContext context) {
    return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  private static HttpResponse<String> ask(ConfigurableApplicationContext context) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(request(context, BODY), HttpResponse.BodyHandlers.ofString());
    }
  }

  private static HttpRequest request(ConfigurableApplicationContext context, String body) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + port(context) + "/v1/chat/completions"))
        .header("content-type", "application/json")
        .header("authorization", "Bearer k")
        .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }
}
