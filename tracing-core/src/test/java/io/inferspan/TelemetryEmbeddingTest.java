package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.propagation.HeaderMap;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Inferspan in a process with other users of OpenTelemetry. */
class TelemetryEmbeddingTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String HOUR_MILLIS = "3600000";
  private static final String CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();
  private Warnings warnings;

  @BeforeEach
  void prepare() {
    GlobalOpenTelemetry.resetForTest();
    warnings = Warnings.collect();
  }

  @AfterEach
  void cleanUp() {
    GlobalOpenTelemetry.resetForTest();
    warnings.close();
  }

  @Test
  void globalOpenTelemetry_isReusedAndStaysOpenAfterClose() {
    GlobalOpenTelemetry.set(tracing.openTelemetry());
    OpenTelemetry before = GlobalOpenTelemetry.get();

    Telemetry telemetry = Telemetry.initTracing(TestOptions.tracingAll().build());
    telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
    telemetry.close();
    GlobalOpenTelemetry.getTracer("agent").spanBuilder("after").startSpan().end();

    assertThat(GlobalOpenTelemetry.get()).isSameAs(before);
    assertThat(tracing.spans())
        .extracting(SpanRecord::name)
        .containsExactly("gateway.request", "after");
  }

  @Test
  void ownOpenTelemetry_isRegisteredGloballyOnlyOnRequest() {
    Telemetry quiet = Telemetry.initTracing(TestOptions.exportingNowhere().build());
    quiet.close();
    assertThat(GlobalOpenTelemetry.isSet()).isFalse();

    try (OtlpReceiver receiver = OtlpReceiver.start();
        Telemetry global =
            Telemetry.initTracing(TestOptions.exportingTo(receiver).registerGlobally().build())) {
      assertThat(GlobalOpenTelemetry.isSet()).isTrue();
      GlobalOpenTelemetry.getTracer("other").spanBuilder("joins").startSpan().end();
      assertThat(global.flush(SOON)).isTrue();
      assertThat(receiver.spans()).extracting(SpanRecord::name).containsExactly("joins");
    }
  }

  @Test
  void noopGlobal_doesNotPreventTracing() {
    assertThat(GlobalOpenTelemetry.get()).isNotNull(); // a library that asks first makes it a no-op
    try (OtlpReceiver receiver = OtlpReceiver.start();
        Telemetry telemetry =
            Telemetry.initTracing(TestOptions.exportingTo(receiver).registerGlobally().build())) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
      assertThat(telemetry.flush(SOON)).isTrue();

      assertThat(receiver.spans()).extracting(SpanRecord::name).containsExactly("gateway.request");
      assertThat(warnings.sentences())
          .singleElement()
          .asString()
          .contains("Call initTracing() first");
    }
  }

  @Test
  void openTelemetryThatIsTooOld_isReportedWithTheRequiredVersion() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class)
            .before("target/old-opentelemetry/opentelemetry-api.jar")
            .run("roots:1");

    assertThat(outcome.err())
        .contains("Inferspan needs OpenTelemetry 1.59 or newer, but found 1.49.0");
  }

  @Test
  void configuredPropagator_isAlwaysUsed() {
    Map<String, String> headers = Map.of("traceparent", CALLER);
    try (Telemetry telemetry =
        Telemetry.initTracing(
            TestOptions.exportingNowhere()
                .setting("otel.propagators", DistrustfulPropagator.NAME)
                .build())) {
      Map<String, String> sent = new HashMap<>();
      Context context = telemetry.extract(headers, HeaderMap.HEADERS);
      telemetry.inject(
          telemetry.span(GatewaySpans.REQUEST, context).start(), sent, HeaderMap.HEADERS);

      assertThat(Span.fromContext(context).getSpanContext().isValid()).isFalse();
      assertThat(sent).containsKeys(DistrustfulPropagator.NAME, "traceparent");
    }
    OpenTelemetrySdk sdk =
        OpenTelemetrySdk.builder()
            .setPropagators(ContextPropagators.create(new DistrustfulPropagator()))
            .build();
    Context context = Telemetry.using(sdk).extract(headers, HeaderMap.HEADERS);
    assertThat(Span.fromContext(context).getSpanContext().isValid()).isFalse();
  }

  @Test
  void currentSpanOfTheCallersTrace_isTheParent() {
    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      Map<String, String> headers = Map.of("traceparent", CALLER);
      Context caller = telemetry.extract(headers, HeaderMap.HEADERS);
      Span server = telemetry.tracer("agent").spanBuilder("GET").setParent(caller).startSpan();
      try (Scope ignored = server.makeCurrent()) {
        Context context = telemetry.extract(headers, HeaderMap.HEADERS);
        assertThat(Span.fromContext(context)).isSameAs(server);
      }
      Span other = telemetry.tracer("agent").spanBuilder("other").setNoParent().startSpan();
      try (Scope ignored = other.makeCurrent()) {
        Context context = telemetry.extract(headers, HeaderMap.HEADERS);
        assertThat(Span.fromContext(context).getSpanContext().getSpanId())
            .isEqualTo("b7ad6b7169203331");
      }
    }
  }

  @Test
  void using_tracesWithTheCallersOpenTelemetryAndLeavesItOpen() {
    Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
    telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
    telemetry.close();
    tracing.openTelemetry().getTracer("own").spanBuilder("after").startSpan().end();

    assertThat(telemetry.openTelemetry()).isSameAs(tracing.openTelemetry());
    assertThat(tracing.spans()).hasSize(2);
    assertThat(GlobalOpenTelemetry.isSet()).isFalse();
  }

  @Test
  void using_doesNotChangeTheResultOfInitTracing() {
    Telemetry ours = Telemetry.using(tracing.openTelemetry());

    try (Telemetry initialised = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      assertThat(initialised).isNotSameAs(ours);
      ours.close();
      assertThat(Telemetry.initTracing()).isSameAs(initialised);
    }
  }

  @Test
  void secondInitTracing_returnsTheFirstWithAWarning() {
    try (Telemetry first = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      assertThat(Telemetry.initTracing()).isSameAs(first);
      assertThat(warnings.sentences()).singleElement().asString().contains("already");
    }
  }

  @Test
  void initTracingAfterClose_createsANewInstance() {
    Telemetry first = Telemetry.initTracing(TestOptions.exportingNowhere().build());
    first.close();

    try (Telemetry second = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      assertThat(second).isNotSameAs(first);
      first.close();
      // Closing the first instance late does not unregister the second.
      assertThat(Telemetry.initTracing()).isSameAs(second);
    }
    assertThat(warnings.sentences()).hasSize(1);
  }

  @Test
  @Timeout(60) // an hour if it waited for the export
  void close_endsWithinItsTimeout_andIsIdempotent() {
    try (OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start()) {
      Telemetry telemetry =
          Telemetry.initTracing(
              TestOptions.exportingTo(silent)
                  .closeTimeout(Duration.ofMillis(500))
                  .setting("otel.exporter.otlp.timeout", HOUR_MILLIS)
                  .setting("otel.bsp.export.timeout", HOUR_MILLIS)
                  .build());
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
      silent.awaitRequests(1, SOON);

      telemetry.close();
      assertThat(telemetry.spanCounts().dropped().shutdown()).isOne();
      telemetry.close();
      assertThat(telemetry.spanCounts().dropped().shutdown()).isOne();
    }
  }

  @Test
  void flush_waitsUntilSent() {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        Telemetry telemetry = slowlyExportingTo(receiver)) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();

      assertThat(telemetry.flush(SOON)).isTrue();
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  // A separate test, because a second flush may get the result of one that is still running.
  @Test
  @Timeout(60) // an hour if it waited for the export
  void flush_waitsAtMostItsTimeout() {
    try (OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start();
        Telemetry telemetry = slowlyExportingTo(silent)) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();

      assertThat(telemetry.flush(Duration.ofMillis(300))).isFalse();
    }
  }

  private static Telemetry slowlyExportingTo(OtlpReceiver receiver) {
    return Telemetry.initTracing(
        TestOptions.exportingTo(receiver)
            .closeTimeout(Duration.ofMillis(200))
            .setting("otel.bsp.schedule.delay", "60000")
            .setting("otel.exporter.otlp.timeout", HOUR_MILLIS)
            .setting("otel.bsp.export.timeout", HOUR_MILLIS)
            .build());
  }

  @Test
  void spansAfterClose_areNotRecorded_andOpenOnesCountAsLost() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build());
      OperationSpan open = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
      telemetry.close();
      assertThat(telemetry.spanCounts().dropped().neverEnded()).isOne();

      open.close();
      OperationSpan late = telemetry.span(GatewaySpans.ORCHESTRATION, open).start();
      late.close();

      assertThat(receiver.spans()).isEmpty();
      assertThat(late.recording()).isFalse();
      assertThat(telemetry.spanCounts().started()).isOne();
      assertThat(telemetry.spanCounts().dropped().total()).isOne();
    }
  }

  @Test
  void shutdownHook_isInstalledOnlyOnRequest() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      ChildJvm child =
          ChildJvm.running(TelemetryProcess.class)
              .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint())
              .env("OTEL_BSP_SCHEDULE_DELAY", "60000")
              .env("OTEL_TRACES_SAMPLER", "always_on");

      assertThat(child.run("leave").exit()).isZero();
      assertThat(receiver.requestCount()).isZero();

      assertThat(child.run("leave-hooked").exit()).isZero();
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void initTracingAfterTheGlobalInstanceWasClosed_logsAWarning() {
    ChildJvm.Outcome outcome =
        ChildJvm.running(TelemetryProcess.class)
            .env("OTEL_TRACES_EXPORTER", "none")
            .run("global-twice");

    assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
    String before = outcome.err().substring(0, outcome.err().indexOf("again"));
    String after = outcome.err().substring(before.length());
    assertThat(before).doesNotContain("WARNING");
    assertThat(after)
        .containsOnlyOnce("WARNING")
        .contains("closed; this process records no more spans");
  }

  @Test
  void threads_areNamedDaemons_andEndOnClose() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      Set<Thread> before = Thread.getAllStackTraces().keySet();
      Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingTo(receiver).build());
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
      receiver.awaitSpans(1, SOON);
      Set<Thread> started = startedSince(before);

      assertThat(started).isNotEmpty().allMatch(Thread::isDaemon);
      assertThat(started)
          .extracting(Thread::getName)
          .anyMatch(name -> name.contains("BatchSpanProcessor"))
          .noneMatch(name -> name.matches("Thread-\\d+|pool-\\d+-thread-\\d+"));

      telemetry.close();
      for (Thread thread : started) {
        if (thread.getName().contains("BatchSpanProcessor")) {
          thread.join(SOON.toMillis());
          assertThat(thread.isAlive()).isFalse();
        }
      }
    }
  }

  @Test
  void micrometerAbsent_tracingWorks() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      ChildJvm.Outcome outcome =
          ChildJvm.running(TelemetryProcess.class)
              .without("micrometer")
              .flag("-Dotel.exporter.otlp.endpoint=" + receiver.endpoint())
              .flag("-Dotel.traces.sampler=always_on")
              .run("roots:2");

      assertThat(outcome.exit()).describedAs("%s", outcome).isZero();
      assertThat(receiver.spans()).hasSize(2);
    }
  }

  @Test
  void initTracing_succeedsAfterARejectedConfiguration() {
    TelemetryOptions refused = TestOptions.tracingAll().setting("otel.propagators", "x").build();
    assertThatThrownBy(() -> Telemetry.initTracing(refused)).isInstanceOf(RuntimeException.class);

    try (Telemetry telemetry = Telemetry.initTracing(TestOptions.exportingNowhere().build())) {
      assertThat(telemetry.span(GatewaySpans.REQUEST, Context.root()).start().recording()).isTrue();
    }
    assertThat(warnings.sentences()).isEmpty();
  }

  private static Set<Thread> startedSince(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .filter(thread -> !thread.getName().startsWith("vert.x"))
        .filter(thread -> thread.getThreadGroup() != null)
        .filter(thread -> !"system".equals(thread.getThreadGroup().getName()))
        .collect(Collectors.toSet());
  }
}
