package io.inferspan.samples.springboot;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.api.OpenTelemetry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

class SpringGatewayTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,\"max_tokens\":5,"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"is there a train at noon\"}]}";

  @Test
  void springsOpenTelemetry_isTheOnlyOne() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start();
        FakeEngine engine = FakeEngine.start();
        ConfigurableApplicationContext context = start(engine, collector)) {
      HttpResponse<String> answer = ask(context);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("data: [DONE]");

      List<SpanRecord> spans = collector.awaitTrace(TRACE, 2, Duration.ofSeconds(10));
      assertThatSpans(spans)
          .hasTree(
              """
              http post /v1/chat/completions [SERVER]
                gateway.request [SERVER] {http.response.status_code=200, \
              inferspan.response.first_token_ms=*, inferspan.response.complete=true}
              """);
      assertThat(spans).extracting(SpanRecord::serviceName).containsOnly("spring-gateway");
      assertThat(context.getBean(Telemetry.class).openTelemetry())
          .isSameAs(context.getBean(OpenTelemetry.class));
      String ours = assertThatSpans(spans).span("gateway.request").spanId();
      assertThat(engine.requests().getFirst().headers("traceparent"))
          .containsExactly("00-" + TRACE + "-" + ours + "-01");
    }
  }

  private static ConfigurableApplicationContext start(FakeEngine engine, OtlpReceiver collector) {
    return SpringApplication.run(
        SpringGateway.class,
        "--server.port=0",
        "--engine=http://" + engine.authority(),
        "--management.opentelemetry.tracing.export.otlp.endpoint=" + collector.httpTracesEndpoint(),
        "--management.opentelemetry.tracing.export.schedule-delay=50ms");
  }

  private static HttpResponse<String> ask(ConfigurableApplicationContext context) throws Exception {
    String port = context.getEnvironment().getRequiredProperty("local.server.port");
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
              .header("content-type", "application/json")
              .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
              .POST(HttpRequest.BodyPublishers.ofString(BODY))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
