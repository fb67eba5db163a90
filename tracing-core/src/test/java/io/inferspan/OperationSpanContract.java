package io.inferspan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.testing.SpanRecord;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The contract of a recording span, for each implementation. */
abstract class OperationSpanContract {

  /** Returns the instance under test, which samples each span. */
  abstract Telemetry telemetry();

  /** Waits until {@code count} spans have ended, and returns all ended spans. */
  abstract List<SpanRecord> spans(int count);

  private OperationSpan start() {
    return telemetry().span(GatewaySpans.REQUEST, Context.root()).start();
  }

  private SpanRecord ended() {
    List<SpanRecord> spans = spans(1);
    assertThat(spans).hasSize(1);
    return spans.get(0);
  }

  @Test
  void span_recordsUntilItEnds() {
    OperationSpan span = start();
    assertThat(span.recording()).isTrue();
    span.close();

    assertThat(span.recording()).isFalse();
    assertThat(ended().name()).isEqualTo("gateway.request");
    assertThat(ended().statusCode()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  void span_isTheCurrentSpanOfItsContext() {
    OperationSpan span = start();
    Span current = Span.fromContext(span.context());
    span.close();

    assertThat(span.context()).isSameAs(span.context());
    assertThat(current.getSpanContext().getSpanId()).isEqualTo(ended().spanId());
  }

  @Test
  void child_hasItsParent_evenAfterTheParentEnded() {
    OperationSpan parent = start();
    parent.close();
    telemetry().span(GatewaySpans.ORCHESTRATION, parent).start().close();

    SpanRecord first = named("gateway.request");
    SpanRecord second = named("gateway.request_orchestration");
    assertThat(second.parentSpanId()).isEqualTo(first.spanId());
    assertThat(second.traceId()).isEqualTo(first.traceId());
  }

  private SpanRecord named(String name) {
    return spans(2).stream().filter(span -> span.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void close_endsOnce_onAnyThread() throws Exception {
    OperationSpan span = start();
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread =
          new Thread(
              () -> {
                await(go);
                span.set(GenAiAttributes.REQUEST_MODEL, "m").close();
              },
              "closer-" + i);
      threads.add(thread);
      thread.start();
    }
    go.countDown();
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    start().close();

    assertThat(spans(2)).hasSize(2);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void callsAfterClose_areIgnored() {
    OperationSpan span = start();
    span.set(GenAiAttributes.REQUEST_MODEL, "before");
    span.close();
    span.set(GenAiAttributes.REQUEST_MODEL, "after").fail(new IllegalStateException());
    span.close();

    assertThat(ended().attributes()).isEqualTo(Map.of("gen_ai.request.model", "before"));
    assertThat(ended().statusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(ended().events()).isEmpty();
  }

  @Test
  void set_acceptsEachType_andTheLastValueWins() {
    try (OperationSpan span = start()) {
      span.set(GenAiAttributes.REQUEST_MODEL, "first")
          .set(GenAiAttributes.REQUEST_MODEL, "m")
          .set(GenAiAttributes.REQUEST_MAX_TOKENS, 7)
          .set(GenAiAttributes.REQUEST_TEMPERATURE, 0.5)
          .set(GenAiAttributes.REQUEST_STREAM, true)
          .set(GenAiAttributes.RESPONSE_FINISH_REASONS, List.of("stop"));
    }

    assertThat(ended().attributes())
        .isEqualTo(
            Map.of(
                "gen_ai.request.model",
                "m",
                "gen_ai.request.max_tokens",
                7L,
                "gen_ai.request.temperature",
                0.5,
                "gen_ai.request.stream",
                true,
                "gen_ai.response.finish_reasons",
                List.of("stop")));
  }

  @Test
  void pendingSpan_setsAttributesBeforeTheStart() {
    telemetry()
        .span(GatewaySpans.REQUEST, Context.root())
        .set(GenAiAttributes.REQUEST_MODEL, "m")
        .set(GenAiAttributes.REQUEST_MAX_TOKENS, 7)
        .set(GenAiAttributes.REQUEST_TEMPERATURE, 0.5)
        .set(GenAiAttributes.REQUEST_STREAM, true)
        .set(GenAiAttributes.RESPONSE_MODEL, null)
        .start()
        .close();

    assertThat(ended().attributes())
        .containsOnlyKeys(
            "gen_ai.request.model",
            "gen_ai.request.max_tokens",
            "gen_ai.request.temperature",
            "gen_ai.request.stream");
  }

  @Test
  void set_ignoresNullAndOmittedValues() {
    try (OperationSpan span = start()) {
      span.set(GenAiAttributes.RESPONSE_FINISH_REASONS, null)
          .set(GenAiAttributes.REQUEST_MODEL, null)
          .set(GenAiAttributes.REQUEST_ID, "")
          .set(EppAttributes.TARGET_MODEL, "");
    }

    assertThat(ended().attributes()).isEqualTo(Map.of("target_model", ""));
  }

  @Test
  void setMillis_keepsTheFraction() {
    try (OperationSpan span = start()) {
      span.setMillis(GenAiAttributes.REQUEST_TEMPERATURE, 1_234_567)
          .setMillis(GenAiAttributes.REQUEST_TOP_P, 250);
    }

    assertThat(ended().attribute("gen_ai.request.temperature")).isEqualTo(1.234567);
    assertThat(ended().attribute("gen_ai.request.top_p")).isEqualTo(0.00025);
  }

  @Test
  void failWithAThrowable_recordsItsTypeButNotItsMessage() {
    try (OperationSpan span = start()) {
      span.fail(new IllegalStateException("secret", new RuntimeException("secret too")));
    }

    SpanRecord span = ended();
    assertThat(span.statusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(span.statusDescription()).isEqualTo("java.lang.IllegalStateException");
    assertThat(span.attribute("error.type")).isEqualTo("java.lang.IllegalStateException");
    assertThat(span.events()).hasSize(1);
    assertThat(span.events().get(0).name()).isEqualTo("exception");
    assertThat(span.events().get(0).attributes())
        .containsEntry("exception.type", "java.lang.IllegalStateException")
        .containsOnlyKeys("exception.type", "exception.stacktrace");
    assertThat(span.toString()).contains("Caused by: java.lang.RuntimeException");
    assertThat(span.toString()).doesNotContain("secret");
  }

  @Test
  void failWithATypeAndADescription_recordsBothAndNoEvent() {
    try (OperationSpan span = start()) {
      span.fail("503", "no endpoint was left");
    }

    assertThat(ended().statusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(ended().statusDescription()).isEqualTo("no endpoint was left");
    assertThat(ended().attributes()).isEqualTo(Map.of("error.type", "503"));
    assertThat(ended().events()).isEmpty();
  }

  @Test
  void failWithAThrowableThatThrows_stillMarksTheSpan() {
    try (OperationSpan span = start()) {
      assertThatCode(() -> span.fail(new HostileException())).doesNotThrowAnyException();
    }

    assertThat(ended().statusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(ended().attribute("error.type")).isEqualTo(HostileException.class.getName());
  }

  @Test
  void failWithACauseThatIsItsOwnCause_ends() {
    Exception first = new Exception();
    Exception second = new Exception(first);
    first.initCause(second);
    try (OperationSpan span = start()) {
      span.fail(first);
    }

    assertThat(ended().statusCode()).isEqualTo(StatusCode.ERROR);
  }

  @Test
  void failWithoutACause_stillMarksTheSpan() {
    try (OperationSpan span = start()) {
      span.fail(null);
    }

    assertThat(ended().statusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(ended().attribute("error.type")).isEqualTo("unknown");
    assertThat(ended().events()).isEmpty();
  }

  @Test
  @SuppressWarnings("NullAway") // callers without a null checker may pass null
  void nullDetail_isOmitted() {
    telemetry().span(GatewaySpans.REQUEST, null, Context.root()).start().close();

    assertThat(ended().name()).isEqualTo("gateway.request");
  }

  @Test
  void explicitTimes_areExported() {
    OperationSpan span =
        telemetry().span(GatewaySpans.REQUEST, Context.root()).startingAt(5_001).start();
    span.closeAt(7_003);
    span.closeAt(9_000);

    assertThat(ended().startEpochNanos()).isEqualTo(5_001);
    assertThat(ended().endEpochNanos()).isEqualTo(7_003);
    assertThat(span.recording()).isFalse();
  }

  @Test
  void link_isExported() {
    SpanContext other =
        SpanContext.createFromRemoteParent(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            TraceFlags.getSampled(),
            TraceState.getDefault());
    PendingSpan pending = telemetry().span(GatewaySpans.REQUEST, Context.root());
    pending
        .linkedTo(other, Attributes.of(BatchAttributes.TOKENS.key(), 12L))
        .linkedTo(SpanContext.getInvalid(), Attributes.empty())
        .start()
        .close();

    assertThat(ended().links())
        .extracting(link -> link.traceId() + "-" + link.spanId())
        .containsExactly(other.getTraceId() + "-" + other.getSpanId());
    assertThat(ended().links().get(0).attributes())
        .containsExactly(Map.entry("llm_d.engine.tokens", 12L));
    assertThat(ended().traceId()).isNotEqualTo(other.getTraceId());
  }

  @Test
  void startCalledTwice_startsOneSpan() {
    PendingSpan pending = telemetry().span(GatewaySpans.REQUEST, Context.root());
    OperationSpan span = pending.start();
    assertThat(pending.start()).isSameAs(span);
    span.close();

    assertThat(spans(1)).hasSize(1);
  }

  /** An exception whose methods throw. */
  private static final class HostileException extends RuntimeException {

    @Override
    public String getMessage() {
      throw new UnsupportedOperationException("getMessage");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new UnsupportedOperationException("getCause");
    }

    @Override
    public StackTraceElement[] getStackTrace() {
      throw new UnsupportedOperationException("getStackTrace");
    }

    @Override
    public String toString() {
      throw new UnsupportedOperationException("toString");
    }
  }
}
