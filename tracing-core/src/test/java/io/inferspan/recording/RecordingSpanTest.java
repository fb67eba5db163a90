package io.inferspan.recording;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares a recorded span of our recording with the SDK's. */
class RecordingSpanTest {

  private static final SpanLimits LIMITS =
      SpanLimits.builder()
          .setMaxNumberOfAttributes(20)
          .setMaxAttributeValueLength(10)
          .setMaxNumberOfEvents(2)
          .setMaxNumberOfLinks(1)
          .build();

  static Stream<Recording> recordings() {
    return Recording.both(Recording.Setup.defaults().limits(LIMITS));
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void times_areMeasuredFromTheFirstSpanOfTheTrace(Recording recording) {
    Span parent = recording.start("parent", Context.root());
    recording.clock().advance(Duration.ofNanos(1_500));
    Span child = recording.start("child", Context.root().with(parent));
    recording.clock().advance(Duration.ofNanos(250));
    child.end();
    parent.end();

    SpanData first = recording.spans().get(0);
    SpanData second = recording.spans().get(1);
    assertThat(first.getStartEpochNanos() - second.getStartEpochNanos()).isEqualTo(1_500);
    assertThat(first.getEndEpochNanos() - first.getStartEpochNanos()).isEqualTo(250);
    assertThat(first.getParentSpanId()).isEqualTo(second.getSpanId());
    assertThat(first.getTraceId()).isEqualTo(second.getTraceId());
    assertThat(first.getResource()).isEqualTo(Recording.RESOURCE);
    assertThat(first.getInstrumentationScopeInfo().getName()).isEqualTo("test");
    assertThat(first.hasEnded()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void attributes_keepTheLastValue_withinTheLimits(Recording recording) {
    Span span =
        recording
            .tracer()
            .spanBuilder("s")
            .setNoParent()
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute("text", "first")
            .setAttribute(longKey("count"), 1)
            .startSpan();
    span.setAttribute("text", "0123456789abc");
    span.setAttribute("retyped", "text");
    span.setAttribute(longKey("retyped"), 7);
    span.setAttribute(stringArrayKey("list"), List.of("x", "y"));
    span.setAttribute(stringKey("absent"), null);
    IntStream.range(0, 30).forEach(i -> span.setAttribute("k" + i, i));
    span.end();

    SpanData data = recording.only();
    assertThat(data.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(data.getAttributes().size()).isEqualTo(20);
    assertThat(data.getTotalAttributeCount()).isEqualTo(34);
    assertThat(data.getAttributes().get(stringKey("text"))).isEqualTo("0123456789");
    assertThat(data.getAttributes().get(longKey("retyped"))).isEqualTo(7);
    assertThat(data.getAttributes().get(stringKey("retyped"))).isNull();
    assertThat(data.getAttributes().get(longKey("count"))).isEqualTo(1);
    assertThat(data.getAttributes().get(stringArrayKey("list"))).containsExactly("x", "y");
    assertThat(data.getAttributes().get(stringKey("absent"))).isNull();
    assertThat(data.getAttributes().asMap()).hasSize(20);
    assertThat(data.getAttributes().toBuilder().build().size()).isEqualTo(20);
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void eventsAndLinks_areBoundedAndCounted(Recording recording) {
    SpanContext other = recording.start("other", Context.root()).getSpanContext();
    Span span = recording.start("s", Context.root());
    IntStream.range(0, 3).forEach(i -> span.addEvent("e" + i));
    span.addLink(other);
    span.addLink(other);
    span.addLink(SpanContext.getInvalid());
    span.recordException(new IllegalStateException("boom"));
    span.end();

    SpanData data = recording.only();
    assertThat(data.getEvents()).hasSize(2);
    assertThat(data.getTotalRecordedEvents()).isEqualTo(4);
    assertThat(data.getLinks()).hasSize(1);
    assertThat(data.getTotalRecordedLinks()).isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void callsAfterTheEnd_areIgnored(Recording recording) {
    Span span = recording.start("s", Context.root());
    span.end();
    span.setAttribute("late", "x");
    span.addEvent("late");
    span.updateName("late");
    span.setStatus(StatusCode.ERROR, "late");
    recording.clock().advance(Duration.ofSeconds(1));
    span.end();

    SpanData data = recording.only();
    assertThat(span.isRecording()).isFalse();
    assertThat(data.getName()).isEqualTo("s");
    assertThat(data.getAttributes().isEmpty()).isTrue();
    assertThat(data.getEvents()).isEmpty();
    assertThat(data.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(data.getEndEpochNanos()).isEqualTo(data.getStartEpochNanos());
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void status_okIsFinalAndOnlyErrorsAreDescribed(Recording recording) {
    Span failed = recording.start("failed", Context.root());
    failed.setStatus(StatusCode.ERROR, "why");
    failed.setStatus(StatusCode.UNSET);
    failed.end();
    Span fine = recording.start("fine", Context.root());
    fine.setStatus(StatusCode.OK, "not kept");
    fine.setStatus(StatusCode.ERROR, "too late");
    fine.end();

    assertThat(recording.spans().get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(recording.spans().get(0).getStatus().getDescription()).isEqualTo("why");
    assertThat(recording.spans().get(1).getStatus().getStatusCode()).isEqualTo(StatusCode.OK);
    assertThat(recording.spans().get(1).getStatus().getDescription()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("recordings")
  void explicitTimes_areKept(Recording recording) {
    Span span =
        recording
            .tracer()
            .spanBuilder("s")
            .setNoParent()
            .setStartTimestamp(5, TimeUnit.MICROSECONDS)
            .startSpan();
    span.addEvent("e", 6, TimeUnit.MICROSECONDS);
    span.end(7, TimeUnit.MICROSECONDS);

    SpanData data = recording.only();
    assertThat(data.getStartEpochNanos()).isEqualTo(5_000);
    assertThat(data.getEvents().get(0).getEpochNanos()).isEqualTo(6_000);
    assertThat(data.getEndEpochNanos()).isEqualTo(7_000);
  }

  @Test
  void endFromManyThreads_exportsOnce() throws InterruptedException {
    Recording recording = Recording.ours(Recording.Setup.defaults().limits(LIMITS));
    for (int round = 0; round < 200; round++) {
      Span span = recording.start("s", Context.root());
      CountDownLatch go = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int n = i;
        Thread thread =
            new Thread(
                () -> {
                  awaitQuietly(go);
                  IntStream.range(0, 30).forEach(k -> span.setAttribute("k" + n + k, k));
                  span.end();
                });
        thread.start();
        threads.add(thread);
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join();
      }
    }

    assertThat(recording.spans()).hasSize(200);
    assertThat(recording.spans())
        .allSatisfy(span -> assertThat(span.getAttributes().size()).isEqualTo(20));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
