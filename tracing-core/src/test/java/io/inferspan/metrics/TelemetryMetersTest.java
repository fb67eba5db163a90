package io.inferspan.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.propagation.HeaderMap;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The meters of the span pipeline. */
class TelemetryMetersTest {

  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Map<String, String> UNSAMPLED =
      Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");

  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private Telemetry bound = Telemetry.using(OpenTelemetry.noop());

  @AfterEach
  void close() {
    bound.close();
    receiver.close();
    registry.close();
  }

  @Test
  void everyMeter_existsFromTheStart() {
    try (Telemetry telemetry = bound(options())) {
      assertThat(telemetry).isNotNull();
      assertThat(names())
          .isEqualTo(
              Map.of(
                  "inferspan.spans.started", 1L,
                  "inferspan.spans.unsampled", 1L,
                  "inferspan.spans.ended", 1L,
                  "inferspan.spans.exported", 1L,
                  "inferspan.spans.dropped", 4L,
                  "inferspan.queue.size", 1L,
                  "inferspan.queue.capacity", 1L,
                  "inferspan.export.duration", 1L,
                  "inferspan.export.failures", 1L,
                  "inferspan.descriptions.dropped", 1L));
      assertThat(registry.getMeters())
          .filteredOn(meter -> !meter.getId().getName().equals("inferspan.queue.capacity"))
          .allSatisfy(meter -> assertThat(sum(meter)).isZero());
    }
  }

  @Test
  void unit_isNotRepeatedInTheName() {
    try (Telemetry telemetry = bound(options())) {
      assertThat(telemetry).isNotNull();
      assertThat(registry.getMeters())
          .filteredOn(meter -> meter.getId().getBaseUnit() != null)
          .noneMatch(meter -> names(meter.getId().getName(), meter.getId().getBaseUnit()));
    }
  }

  private static boolean names(String meter, @Nullable String unit) {
    return Arrays.asList(meter.split("\\.", -1)).contains(unit);
  }

  @Test
  void spans_areCountedInEachState() {
    try (Telemetry telemetry = bound(options())) {
      OperationSpan open = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
      telemetry.span(GatewaySpans.ORCHESTRATION, open).start().close();
      assertThat(telemetry.flush(SOON)).isTrue();

      assertThat(count("inferspan.spans.started")).isEqualTo(2);
      assertThat(count("inferspan.spans.ended")).isEqualTo(1);
      assertThat(count("inferspan.spans.exported")).isEqualTo(1);
      assertThat(registry.get("inferspan.export.duration").functionTimer().count()).isEqualTo(1);
      assertThat(
              registry
                  .get("inferspan.export.duration")
                  .functionTimer()
                  .totalTime(TimeUnit.NANOSECONDS))
          .isPositive();
      assertThat(count("inferspan.export.failures")).isZero();
      assertThat(gauge("inferspan.queue.size")).isZero();
    }
  }

  @Test
  void spanLeftOpen_isCountedAtClose() {
    Telemetry telemetry = bound(options());
    telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    assertThat(dropped("never_ended")).isZero();
    telemetry.close();

    assertThat(dropped("never_ended")).isEqualTo(1);
  }

  @Test
  void refusedSpans_areCountedAsFailed() {
    receiver.behave(Behaviour.REFUSE);
    try (Telemetry telemetry = bound(options())) {
      trace(telemetry, 3);
      telemetry.flush(SOON);

      assertThat(dropped("export_failed")).isEqualTo(3);
      assertThat(count("inferspan.export.failures"))
          .isPositive()
          .isEqualTo(registry.get("inferspan.export.duration").functionTimer().count());
    }
  }

  @Test
  void fullQueue_isCounted_andShownByTheGauge() {
    receiver.behave(Behaviour.NEVER_ANSWER);
    Telemetry telemetry =
        bound(
            options()
                .closeTimeout(Duration.ofMillis(300))
                .setting("otel.bsp.max.queue.size", "10")
                .setting("otel.bsp.max.export.batch.size", "5"));
    OperationSpan request = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    for (int i = 0; i < 24; i++) {
      telemetry.span(GatewaySpans.ORCHESTRATION, request).start().close();
    }
    request.close();

    assertThat(gauge("inferspan.queue.capacity")).isEqualTo(10);
    assertThat(gauge("inferspan.queue.size")).isEqualTo(10);
    assertThat(dropped("queue_full")).isEqualTo(15);
    telemetry.close();
    assertThat(dropped("shutdown")).isEqualTo(10);
    assertThat(gauge("inferspan.queue.size")).isZero();
  }

  @Test
  void unsampledSpans_areCounted() {
    try (Telemetry telemetry =
        bound(options().setting("otel.traces.sampler", "parentbased_always_on"))) {
      Context parent = telemetry.extract(UNSAMPLED, HeaderMap.HEADERS);
      OperationSpan request = telemetry.span(GatewaySpans.REQUEST, parent).start();
      telemetry.span(GatewaySpans.ORCHESTRATION, request).start().close();

      assertThat(count("inferspan.spans.unsampled")).isEqualTo(2);
      assertThat(count("inferspan.spans.started")).isZero();
    }
  }

  @Test
  void unsampledRoots_areCountedToo() {
    try (Telemetry telemetry = bound(options().setting("otel.traces.sampler", "always_off"))) {
      trace(telemetry, 3);

      assertThat(count("inferspan.spans.unsampled")).isEqualTo(3);
    }
  }

  @Test
  void droppedAttribute_hasItsOwnMeter() {
    try (Telemetry telemetry = bound(options())) {
      telemetry
          .openTelemetry()
          .getTracer("other")
          .spanBuilder("work")
          .setAttribute("secret", "x")
          .startSpan()
          .end();
      telemetry.flush(SOON);

      assertThat(
              registry
                  .get("inferspan.attributes.dropped")
                  .tag("key", "secret")
                  .functionCounter()
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void callersSdk_hasMetersThatStayZero() {
    Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());
    telemetry.bindTo(registry);
    trace(telemetry, 2);

    assertThat(count("inferspan.spans.started")).isZero();
  }

  private TelemetryOptions.Builder options() {
    return TestOptions.exportingTo(receiver);
  }

  private Telemetry bound(TelemetryOptions.Builder options) {
    Telemetry telemetry = Telemetry.initTracing(options.build());
    telemetry.bindTo(registry);
    bound = telemetry;
    return telemetry;
  }

  private static void trace(Telemetry telemetry, int spans) {
    for (int i = 0; i < spans; i++) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
    }
  }

  private Map<String, Long> names() {
    return registry.getMeters().stream()
        .collect(Collectors.groupingBy(meter -> meter.getId().getName(), Collectors.counting()));
  }

  private static double sum(Meter meter) {
    double sum = 0;
    for (var measurement : meter.measure()) {
      sum += measurement.getValue();
    }
    return sum;
  }

  private double count(String name) {
    return registry.get(name).functionCounter().count();
  }

  private double dropped(String reason) {
    return registry.get("inferspan.spans.dropped").tag("reason", reason).functionCounter().count();
  }

  private double gauge(String name) {
    return registry.get(name).gauge().value();
  }
}
