package io.inferspan.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.export.SpanCounts;
import io.inferspan.propagation.HeaderMap;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that begin while the export queue is nearly full: recorded whole, or not at all. */
class NearlyFullQueueTest {

  private static final int CAPACITY = 64;
  private static final int ROOM_LEFT = CAPACITY / 8;
  private static final int SPANS_OF_A_REQUEST = 5;
  private static final String SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final Telemetry telemetry = Telemetry.initTracing(options(receiver));

  private static TelemetryOptions options(OtlpReceiver receiver) {
    return TestOptions.exportingTo(receiver)
        .closeTimeout(Duration.ofMillis(300))
        .setting("otel.bsp.max.queue.size", Integer.toString(CAPACITY))
        .setting("otel.bsp.max.export.batch.size", "16")
        .build();
  }

  @AfterEach
  void close() {
    telemetry.close();
    receiver.close();
  }

  @Test
  void requestWithANearlyFullQueue_isCountedAndNotRecorded() {
    fillQueueNearly();
    long before = telemetry.spanCounts().dropped().queueFull();

    OperationSpan request = request(Context.root());
    OperationSpan child = child(request);
    OperationSpan grandchild = child(child);

    assertThat(request.recording()).isFalse();
    assertThat(child.recording()).isFalse();
    assertThat(grandchild.recording()).isFalse();
    SpanCounts counts = telemetry.spanCounts();
    assertThat(counts.dropped().queueFull()).isEqualTo(before + 3);
    assertThat(counts.unsampled()).isZero();
  }

  @Test
  void parentOfARefusedRequest_isPropagatedUnchanged() {
    fillQueueNearly();
    Context parent = telemetry.extract(Map.of("traceparent", SAMPLED), HeaderMap.HEADERS);
    OperationSpan child = child(request(parent));
    Map<String, String> upstream = new HashMap<>();
    telemetry.inject(child, upstream, HeaderMap.HEADERS);

    assertThat(child.recording()).isFalse();
    assertThat(upstream).containsExactly(Map.entry("traceparent", SAMPLED));
  }

  @Test
  void refusedRoot_isUnsampledForOthers() {
    fillQueueNearly();
    OperationSpan request = request(Context.root());
    OperationSpan child = child(request);
    Map<String, String> upstream = new HashMap<>();
    telemetry.inject(child, upstream, HeaderMap.HEADERS);

    assertThat(Span.fromContext(request.context()).getSpanContext().isSampled()).isFalse();
    assertThat(upstream.get("traceparent")).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[02]");
  }

  @Test
  void refusedSpansOfTracers_areCountedAndNeverSampledWithoutRecording() {
    fillQueueNearly();
    long before = telemetry.spanCounts().dropped().queueFull();
    Span root = telemetry.tracer("own").spanBuilder("root").setNoParent().startSpan();
    Context caller = telemetry.extract(Map.of("traceparent", SAMPLED), HeaderMap.HEADERS);
    Span child = telemetry.tracer("own").spanBuilder("child").setParent(caller).startSpan();

    assertThat(telemetry.spanCounts().dropped().queueFull()).isEqualTo(before + 2);
    assertThat(root.isRecording()).isFalse();
    assertThat(root.getSpanContext().isSampled()).isFalse();
    assertThat(child.isRecording()).isFalse();
    assertThat(child.getSpanContext().getSpanId()).isEqualTo("b7ad6b7169203331");
  }

  @Test
  void startedRequest_mayUseTheRestOfTheQueue() {
    receiver.behave(Behaviour.NEVER_ANSWER);
    OperationSpan started = request(Context.root());
    fill(CAPACITY - ROOM_LEFT);
    for (int i = 1; i < ROOM_LEFT; i++) {
      child(started).close();
    }
    started.close();

    assertThat(telemetry.spanCounts().ended()).isEqualTo(CAPACITY);
    assertThat(telemetry.spanCounts().dropped().total()).isZero();
  }

  @Test
  void exportedTraces_areComplete() {
    for (int i = 0; i < 20_000; i++) {
      serve();
    }
    assertThat(telemetry.flush(Duration.ofSeconds(20))).isTrue();

    assertThat(telemetry.spanCounts().dropped().queueFull()).isPositive();
    Map<String, Long> sizes =
        receiver.spans().stream()
            .collect(Collectors.groupingBy(SpanRecord::traceId, Collectors.counting()));
    assertThat(sizes).isNotEmpty();
    assertThat(sizes.values()).containsOnly((long) SPANS_OF_A_REQUEST);
    assertThat(telemetry.spanCounts().exported())
        .isEqualTo((long) sizes.size() * SPANS_OF_A_REQUEST);
  }

  private void serve() {
    try (OperationSpan request = request(Context.root())) {
      for (int i = 1; i < SPANS_OF_A_REQUEST; i++) {
        child(request).close();
      }
    }
  }

  private void fillQueueNearly() {
    receiver.behave(Behaviour.NEVER_ANSWER);
    fill(CAPACITY - ROOM_LEFT);
  }

  private void fill(int spans) {
    for (int i = 0; i < spans; i++) {
      OperationSpan span = request(Context.root());
      assertThat(span.recording()).isTrue();
      span.close();
    }
  }

  private OperationSpan request(Context parent) {
    return telemetry.span(GatewaySpans.REQUEST, parent).start();
  }

  private OperationSpan child(OperationSpan parent) {
    return telemetry.span(GatewaySpans.ORCHESTRATION, parent).start();
  }
}
