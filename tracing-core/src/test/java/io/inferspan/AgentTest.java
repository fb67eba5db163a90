package io.inferspan;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.otlp.OtlpReceiver;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Inferspan under the OpenTelemetry Java agent, which replaces the API's contexts and spans. */
class AgentTest {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String CALLER = "00-" + TRACE + "-b7ad6b7169203331-";

  @Test
  void agentsSdk_recordsSpansAsChildrenOfTheCaller() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start()) {
      ChildJvm.Outcome outcome = runUnderAgent(collector, CALLER + "01");

      assertThat(outcome.exit()).as(outcome.err()).isZero();
      collector.awaitSpans(3, Duration.ofSeconds(10));
      assertThat(outcome.value("current")).isEqualTo(TRACE);
      assertThat(outcome.value("sent")).startsWith("00-" + TRACE).endsWith("-01");
      assertThatSpans(collector.spans())
          .isOneTrace()
          .hasTree(
              """
              gateway.request [SERVER]
                llm_d.epp.scorer.prefix_cache [INTERNAL]
                  llm_d.kv_cache.get_scores [SERVER]
              """);
    }
  }

  @Test
  void unsampledCaller_staysUnsampled() throws Exception {
    try (OtlpReceiver collector = OtlpReceiver.start()) {
      ChildJvm.Outcome outcome = runUnderAgent(collector, CALLER + "00");

      assertThat(outcome.exit()).as(outcome.err()).isZero();
      assertThat(outcome.value("current")).isEqualTo(TRACE);
      assertThat(outcome.value("sent")).startsWith("00-" + TRACE).endsWith("-00");
      assertThat(collector.spans()).isEmpty();
    }
  }

  private static ChildJvm.Outcome runUnderAgent(OtlpReceiver collector, String caller) {
    Path agent = Path.of("target", "agent", "opentelemetry-javaagent.jar").toAbsolutePath();
    return ChildJvm.running(AgentProcess.class)
        .flag("-javaagent:" + agent)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .env("OTEL_METRICS_EXPORTER", "none")
        .env("OTEL_LOGS_EXPORTER", "none")
        .run(caller);
  }
}
