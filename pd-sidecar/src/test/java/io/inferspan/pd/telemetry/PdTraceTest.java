package io.inferspan.pd.telemetry;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the trace of every kind of request, over real sockets, with golden files. A span that is
 * not ended fails the test.
 *
 * <p>After an intended change, {@code -Dgolden.write=true} rewrites the golden files.
 */
final class PdTraceTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final Duration SOON = Duration.ofSeconds(10);

  @RegisterExtension static final TracingExtension TRACING = TracingExtension.create();

  private static TracedPd pd;

  @BeforeAll
  static void start() {
    pd = new TracedPd(TRACING.openTelemetry());
  }

  @AfterAll
  static void stop() {
    pd.close();
  }

  @AfterEach
  void reset() {
    pd.reset();
  }

  private static List<SpanRecord> trace(Scenario scenario, SpanNaming naming) {
    scenario.play(pd, scenario.rig(pd, naming));
    return TRACING.awaitSpans(scenario.spans(naming), SOON);
  }

  static Stream<Arguments> all() {
    return Arrays.stream(SpanNaming.values())
        .flatMap(naming -> Arrays.stream(Scenario.values()).map(each -> arguments(each, naming)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void trace_equalsTheGoldenFile(Scenario scenario, SpanNaming naming) throws IOException {
    List<SpanRecord> spans = trace(scenario, naming);

    String text = TypedTree.of(spans, pd.names());
    Path golden = golden(scenario, naming);
    if (Boolean.getBoolean("golden.write")) {
      Files.createDirectories(golden.getParent());
      Files.writeString(golden, text);
    }
    assertThat(text).isEqualTo(Files.readString(golden));
    assertThatSpans(spans).isOneTrace();
  }

  /** Returns the golden file, which is the same for both llm-d names. */
  private static Path golden(Scenario scenario, SpanNaming naming) {
    String shape = naming == SpanNaming.PROPOSAL ? "proposal" : "llm-d";
    String name = scenario.name().toLowerCase(Locale.ROOT).replace('_', '-') + ".txt";
    return GOLDEN.resolve(shape).resolve(name);
  }

  @Test
  void proposal_hasBothStagesAsSiblings() {
    assertThatSpans(trace(Scenario.PD_STREAMED, SpanNaming.PROPOSAL))
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            llm_d.pd_proxy.request [SERVER] {llm_d.pd_proxy.disaggregation_used=true}
              llm_d.pd_proxy.prefill [INTERNAL] {llm_d.pd_proxy.prefill.status_code=200}
                llm_request
              llm_d.pd_proxy.decode [INTERNAL] {llm_d.pd_proxy.decode.streaming=true}
                llm_request
            """);
  }

  @ParameterizedTest
  @EnumSource(
      value = SpanNaming.class,
      names = {"V0_9", "CURRENT"})
  void llmd_hasDecodeBelowPrefill_andEnginesBelowCalls(SpanNaming naming) {
    assertThatSpans(trace(Scenario.PD_STREAMED, naming))
        .isOneTrace()
        .hasNoUnfinishedParents()
        .hasTree(
            """
            llm_d.pd_proxy.POST /v1/chat/completions [SERVER] {http.response.status_code=200}
              forward_request [SERVER] {llm_d.pd_proxy.disaggregation_used=true}
                prefill [INTERNAL] {llm_d.pd_proxy.prefill.status_code=200}
                  HTTP POST [CLIENT]
                    llm_request
                  decode [INTERNAL] {llm_d.pd_proxy.total_duration_ms=*}
                    HTTP POST [CLIENT]
                      llm_request
            """);
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void healthAndMetrics_areNotTraced(SpanNaming naming) {
    for (String path : List.of("/health", "/metrics", "/metrics?name=x")) {
      assertThat(pd.rig(naming).get(path).statusCode()).isEqualTo(200);
    }

    // If the requests before were traced, their spans ended before those of this one.
    pd.rig(naming).get("/v1/models");
    int ofTheLast = Scenario.PASSTHROUGH.spans(naming);
    assertThat(TRACING.awaitSpans(ofTheLast, SOON)).hasSize(ofTheLast);
    assertThat(pd.decoder().requests())
        .allSatisfy(
            request -> {
              boolean traced = request.path().equals("/v1/models");
              assertThat(request.headers("traceparent")).hasSize(traced ? 1 : 0);
            });
  }
}
