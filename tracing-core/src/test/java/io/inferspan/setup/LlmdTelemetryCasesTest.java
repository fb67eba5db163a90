package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ChildJvm;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TelemetryProcess;
import io.inferspan.TestOptions;
import io.inferspan.Warnings;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** llm-d's tests of the resource, the environment and the scope: cases 1-4 and 10. */
class LlmdTelemetryCasesTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int DEFAULT_PORT = 4317;

  private final OtlpReceiver receiver = OtlpReceiver.start();
  private Warnings warnings;

  @BeforeEach
  void collectWarnings() {
    warnings = Warnings.collect();
  }

  @AfterEach
  void close() {
    warnings.close();
    receiver.close();
  }

  @Test
  void case01_nothingSet_givesDefaultServiceNameAndVersion() {
    SpanRecord span = trace(exporting(TelemetryOptions.builder()));

    assertThat(span.serviceName()).isEqualTo("llm-gateway");
    assertThat(span.resource()).containsKey("service.version");
    assertThat(span.resource().get("service.version")).asString().isNotBlank();
    assertThat(warnings.sentences()).isEmpty();
  }

  @Test
  void case01_resource_hasNoAttributesOfSdkHostOrProcess() {
    SpanRecord span = trace(exporting(TelemetryOptions.builder()));

    assertThat(span.resource().keySet())
        .noneMatch(key -> key.startsWith("telemetry."))
        .noneMatch(key -> key.startsWith("host."))
        .noneMatch(key -> key.startsWith("process."));
  }

  @Test
  void case01_instanceId_isPresentOnlyIfTheUserSetsIt() {
    assertThat(trace(exporting(TelemetryOptions.builder())).resource())
        .doesNotContainKey("service.instance.id");

    receiver.clear();
    SpanRecord span =
        trace(
            exporting(TelemetryOptions.builder())
                .setting("otel.resource.attributes", "service.instance.id=pod-7"));
    assertThat(span.resource()).containsEntry("service.instance.id", "pod-7");
  }

  @Test
  void case01_program_setsServiceAndVersion() {
    SpanRecord span =
        trace(
            exporting(TelemetryOptions.builder())
                .serviceName("my-gateway")
                .serviceVersion("1.2.3"));

    assertThat(span.resource())
        .containsAllEntriesOf(Map.of("service.name", "my-gateway", "service.version", "1.2.3"));
  }

  @Test
  void case01_serviceNameVariable_overridesOnlyTheNameInResourceAttributes() {
    SpanRecord span =
        trace(
            exporting(TelemetryOptions.builder())
                .setting("otel.service.name", "from-name")
                .setting(
                    "otel.resource.attributes",
                    "service.name=from-list,k8s.pod.name=pod-7,service.version=9"));

    assertThat(span.resource())
        .containsAllEntriesOf(
            Map.of("service.name", "from-name", "k8s.pod.name", "pod-7", "service.version", "9"));
  }

  @Test
  void case01_serviceNameInResourceAttributes_winsOverTheDefault() {
    SpanRecord span =
        trace(
            exporting(TelemetryOptions.builder())
                .setting("otel.resource.attributes", "service.name=from%20list"));

    assertThat(span.serviceName()).isEqualTo("from list");
  }

  @Test
  void case02_malformedAttributeList_isLoggedOnce_andItsValidEntriesAreUsed() {
    SpanRecord span =
        trace(
            exporting(TelemetryOptions.builder())
                .setting("otel.resource.attributes", "a=1,broken,=x,b=%zz,c=2"));

    assertThat(span.resource()).containsEntry("a", "1").containsEntry("c", "2");
    assertThat(span.resource()).doesNotContainKeys("broken", "b", "");
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("OTEL_RESOURCE_ATTRIBUTES", "a=1,broken");
  }

  @Test
  void case03_environmentAndPropertiesStayUntouched() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://localhost:" + receiver.port())
            .env("OTEL_EXPORTER_OTLP_INSECURE", "true")
            .env("OTEL_TRACES_SAMPLER", "always_on")
            .env("OTEL_TRACES_SAMPLER_ARG", "10")
            .env("OTEL_SERVICE_NAME", "from-environment")
            .env("OTEL_RESOURCE_ATTRIBUTES", "a=1,broken")
            .run("roots:1");

    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    assertThat(outcome.value("untouched")).isEqualTo("true");
    assertThat(outcome.value("properties")).isEqualTo("true");
    assertThat(receiver.awaitSpans(1, SOON).get(0).resource())
        .containsEntry("service.name", "from-environment")
        .containsEntry("a", "1");
  }

  @Test
  void case04_noTransportVariable_meansPlaintextToLocalhost4317() {
    assumeTrue(isFree(DEFAULT_PORT), "port 4317 is taken on this machine");
    try (OtlpReceiver standard = OtlpReceiver.builder().port(DEFAULT_PORT).start()) {
      ChildJvm.Outcome outcome = ChildJvm.running(TelemetryProcess.class).run("roots:500");

      assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
      // A tenth is the default; the bounds are more than five standard deviations away.
      int sampled = Integer.parseInt(outcome.value("started"));
      assertThat(sampled).isBetween(15, 100);
      assertThat(outcome.value("exported")).isEqualTo(outcome.value("started"));
      List<SpanRecord> spans = standard.awaitSpans(sampled, SOON);
      assertThat(spans).hasSize(sampled);
      assertThat(spans.get(0).serviceName()).isEqualTo("llm-gateway");
      assertThat(standard.protocols()).containsExactly("grpc");
    }
  }

  @Test
  void program_winsOverSystemProperty_whichWinsOverEnvironment() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint())
            .env("OTEL_TRACES_SAMPLER", "always_on")
            .env("OTEL_SERVICE_NAME", "from-environment")
            .env("INFERSPAN_SPAN_NAMES", "llm-d-0.9")
            .run("precedence");

    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    List<SpanRecord> spans = receiver.awaitSpans(5, SOON);
    assertThat(spans)
        .extracting(SpanRecord::serviceName)
        .startsWith("from-environment", "from-property", "from-program");
    assertThat(spans)
        .extracting(SpanRecord::name)
        .containsExactlyElementsOf(
            Stream.of(
                    SpanNaming.V0_9,
                    SpanNaming.V0_9,
                    SpanNaming.V0_9,
                    SpanNaming.CURRENT,
                    SpanNaming.V0_9)
                .map(GatewaySpans.REQUEST::name)
                .toList());
  }

  @Test
  void unknownSpanNames_areLogged_andTheProposalIsUsed() {
    SpanRecord span =
        trace(exporting(TelemetryOptions.builder()).setting("inferspan.span.names", "llm-d-99"));

    assertThat(span.name()).isEqualTo("gateway.request");
    assertThat(warnings.sentences())
        .singleElement()
        .asString()
        .contains("INFERSPAN_SPAN_NAMES", "llm-d-99", SpanNaming.settings());
  }

  @Test
  void case10_defaultScope_isLlmdRouterWithCommit() {
    SpanRecord span = traceWith(Telemetry.DEFAULT_SCOPE);

    assertThat(span.scopeName()).isEqualTo("llm-d-router");
    assertThat(span.scope().version()).isNotBlank();
    assertThat(span.scope().attributes().get("commit-sha")).asString().isNotBlank();
  }

  @Test
  void case10_explicitScopeName_isKept() {
    SpanRecord span = traceWith("llm-d-router/pkg/of-a-user");

    assertThat(span.scopeName()).isEqualTo("llm-d-router/pkg/of-a-user");
    assertThat(span.scope().attributes()).containsKey("commit-sha");
  }

  @Test
  void case10_catalogueSpans_carryTheScopeOfTheirComponent() {
    SpanRecord span = trace(exporting(TelemetryOptions.builder()).spanNaming(SpanNaming.CURRENT));

    assertThat(span.scopeName()).isEqualTo("llm-d-router/pkg/epp/handlers");
    assertThat(span.scope().attributes()).containsKey("commit-sha");
  }

  private TelemetryOptions.Builder exporting(TelemetryOptions.Builder options) {
    return options
        .setting("otel.exporter.otlp.endpoint", receiver.endpoint())
        .setting("otel.traces.sampler", "always_on");
  }

  private SpanRecord trace(TelemetryOptions.Builder options) {
    try (Telemetry telemetry = Telemetry.initTracing(options.build())) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
    }
    return receiver.awaitSpans(1, SOON).get(0);
  }

  private SpanRecord traceWith(String scope) {
    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build())) {
      telemetry.tracer(scope).spanBuilder("own").startSpan().end();
    }
    return receiver.awaitSpans(1, SOON).get(0);
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }
}
