package io.inferspan.recording;

import static io.opentelemetry.api.common.AttributeKey.doubleArrayKey;
import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static io.opentelemetry.api.common.AttributeKey.valueKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.recording.Recording.Maker;
import io.inferspan.recording.Recording.Setup;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The SDK's tests of spans, run on our recording and on the SDK's.
 *
 * <p>Internal and experimental parts of the SDK are omitted: {@code onEnding}, exception resolvers
 * and the SDK's own metrics. With a plugin that could install one, the SDK records.
 */
@ParameterizedClass
@MethodSource("io.inferspan.recording.Recording#makers")
class SpanCasesTest {

  private static final SpanLimits LIMITS =
      SpanLimits.builder()
          .setMaxNumberOfAttributes(4)
          .setMaxAttributeValueLength(5)
          .setMaxNumberOfAttributesPerEvent(2)
          .setMaxNumberOfAttributesPerLink(1)
          .setMaxNumberOfEvents(3)
          .build();

  private static final Attributes THREE =
      Attributes.of(longKey("a"), 1L, longKey("b"), 2L, longKey("c"), 3L);

  private final Recording recording;

  private final Maker maker;

  SpanCasesTest(Maker maker) {
    this.maker = maker;
    this.recording = maker.make(Setup.defaults().limits(LIMITS));
  }

  private static SpanData data(Span span) {
    return ((ReadableSpan) span).toSpanData();
  }

  @Test
  void spanData_doesNotChangeWithTheSpan() {
    Span span = recording.root();
    span.setAttribute("a", "1").addEvent("first").addLink(span.getSpanContext());
    SpanData before = data(span);
    span.updateName("renamed").setAttribute("a", "2").setAttribute("b", "1").addEvent("second");
    span.addLink(span.getSpanContext()).setStatus(StatusCode.ERROR, "why");
    span.end();

    assertThat(before.getName()).isEqualTo("s");
    assertThat(before.getAttributes().asMap())
        .containsOnly(java.util.Map.entry(stringKey("a"), "1"));
    assertThat(before.getEvents()).hasSize(1);
    assertThat(before.getTotalRecordedEvents()).isEqualTo(1);
    assertThat(before.getTotalAttributeCount()).isEqualTo(1);
    assertThat(before.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(before.hasEnded()).isFalse();
    assertThat(before.getEndEpochNanos()).isZero();
    assertThat(data(span).hasEnded()).isTrue();
    assertThat(data(span).getName()).isEqualTo("renamed");
  }

  @Test
  void listsOfSpanData_areImmutable() {
    Span span = recording.root();
    span.addEvent("e").addLink(span.getSpanContext());
    EventData event = data(span).getEvents().get(0);
    assertThatThrownBy(() -> data(span).getEvents().add(event))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> data(span).getLinks().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    span.end();
    assertThatThrownBy(() -> recording.only().getEvents().add(event))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void spanWithoutAnything_hasEmptyData() {
    recording.root().end();

    SpanData data = recording.only();
    assertThat(data.getAttributes().isEmpty()).isTrue();
    assertThat(data.getAttributes().size()).isZero();
    assertThat(data.getEvents()).isEmpty();
    assertThat(data.getLinks()).isEmpty();
    assertThat(data.getParentSpanContext().isValid()).isFalse();
    assertThat(data.getTotalRecordedLinks()).isZero();
    assertThat(data.getInstrumentationScopeInfo().getVersion()).isEqualTo("1");
  }

  @Test
  void attributesOfEqualSpans_areEqual() {
    for (int i = 0; i < 2; i++) {
      recording.root().setAttribute("a", "1").setAttribute(longKey("b"), 2L).end();
    }

    Attributes first = recording.spans().get(0).getAttributes();
    Attributes second = recording.spans().get(1).getAttributes();
    assertThat(first).isEqualTo(second).hasSameHashCodeAs(second);
    assertThat(first).isNotEqualTo(Attributes.empty());
    assertThat(first.get(stringKey("b"))).isNull();
    assertThat(first).hasToString(first.toString()).asString().contains("a", "1", "b", "2");
  }

  @Test
  void openSpan_returnsItsAttributes() {
    ReadableSpan span = (ReadableSpan) recording.root().setAttribute("a", "1");

    assertThat(span.getAttribute(stringKey("a"))).isEqualTo("1");
    assertThat(span.getAttribute(longKey("a"))).isNull();
    assertThat(span.getAttribute(stringKey("b"))).isNull();
    assertThat(span.getAttributes().get(stringKey("a"))).isEqualTo("1");
    assertThat(span.getInstrumentationScopeInfo().getName()).isEqualTo("test");
  }

  @Test
  void emptyLists_areKept() {
    Span span = recording.root();
    span.setAttribute(stringArrayKey("texts"), List.of());
    span.setAttribute(doubleArrayKey("numbers"), List.of());
    span.end();

    assertThat(recording.only().getAttributes().size()).isEqualTo(2);
  }

  @Test
  void setAllAttributes_merges() {
    Span span = recording.root().setAttribute("a", "text");
    span.setAllAttributes(Attributes.of(longKey("a"), 1L, longKey("b"), 2L));
    span.setAllAttributes(Attributes.empty());
    span.end();

    assertThat(recording.only().getAttributes().asMap())
        .isEqualTo(Attributes.of(longKey("a"), 1L, longKey("b"), 2L).asMap());
  }

  @Test
  void attributesAboveTheLimit_areDroppedAndCounted_andExistingOnesStillChange() {
    Span span = recording.root();
    for (int i = 0; i < 6; i++) {
      span.setAttribute("k" + i, "old");
    }
    span.setAttribute("k1", "new").end();

    SpanData data = recording.only();
    assertThat(data.getAttributes().size()).isEqualTo(4);
    assertThat(data.getAttributes().get(stringKey("k1"))).isEqualTo("new");
    assertThat(data.getAttributes().get(stringKey("k4"))).isNull();
    assertThat(data.getTotalAttributeCount()).isGreaterThanOrEqualTo(6);
  }

  @Test
  void valuesAboveTheLimit_areTruncated_alsoInListsAndComplexValues() {
    Span span = recording.root();
    span.setAttribute("text", "1234567");
    span.setAttribute(stringArrayKey("list"), List.of("12345", "1234567"));
    span.setAttribute(
        valueKey("value"),
        Value.of(
            KeyValue.of("text", Value.of("1234567")),
            KeyValue.of("list", Value.of(List.of(Value.of("1234567"), Value.of(7))))));
    span.setAttribute(valueKey("bytes"), Value.of(new byte[9]));
    span.end();

    Attributes kept = recording.only().getAttributes();
    assertThat(kept.get(stringKey("text"))).isEqualTo("12345");
    assertThat(kept.get(stringArrayKey("list"))).containsExactly("12345", "12345");
    assertThat(kept.get(valueKey("value")))
        .isEqualTo(
            Value.of(
                KeyValue.of("text", Value.of("12345")),
                KeyValue.of("list", Value.of(List.of(Value.of("12345"), Value.of(7))))));
    assertThat(kept.get(valueKey("bytes"))).isEqualTo(Value.of(new byte[5]));
  }

  @Test
  void attributesOfEvents_areLimitedAndCounted() {
    Span span = recording.root();
    span.addEvent("many", THREE);
    span.addEvent("long", Attributes.of(stringKey("text"), "1234567"), 7, TimeUnit.NANOSECONDS);
    span.addEvent("plain", Instant.ofEpochSecond(1, 2)).addEvent("too many");
    span.end();

    SpanData data = recording.only();
    assertThat(data.getEvents())
        .extracting(EventData::getName)
        .containsExactly("many", "long", "plain");
    assertThat(data.getTotalRecordedEvents()).isEqualTo(4);
    EventData many = data.getEvents().get(0);
    assertThat(many.getAttributes().size()).isEqualTo(2);
    assertThat(many.getTotalAttributeCount()).isEqualTo(3);
    assertThat(many.getDroppedAttributesCount()).isEqualTo(1);
    EventData cut = data.getEvents().get(1);
    assertThat(cut.getAttributes().get(stringKey("text"))).isEqualTo("12345");
    assertThat(cut.getEpochNanos()).isEqualTo(7);
    assertThat(data.getEvents().get(2).getEpochNanos()).isEqualTo(1_000_000_002L);
  }

  @Test
  void attributesOfLinks_areLimitedAndCounted() {
    Span span = recording.root();
    span.addLink(span.getSpanContext(), THREE);
    span.addLink(span.getSpanContext(), Attributes.of(stringKey("text"), "1234567"));
    span.end();

    SpanData data = recording.only();
    assertThat(data.getLinks().get(0).getAttributes().size()).isEqualTo(1);
    assertThat(data.getLinks().get(1).getAttributes().get(stringKey("text"))).isEqualTo("12345");
    assertThat(data.getLinks().get(1).getSpanContext()).isEqualTo(data.getSpanContext());
  }

  @Test
  void exceptions_areEventsWithinTheLimits() {
    Span span = recording.root();
    span.recordException(
        new Inner("1234567"),
        Attributes.of(stringKey("exception.message"), "other", longKey("a"), 1L));
    span.recordException(new Inner(null));
    span.end();

    EventData first = recording.only().getEvents().get(0);
    assertThat(first.getName()).isEqualTo("exception");
    assertThat(first.getAttributes().size()).isEqualTo(4);
    assertThat(first.getTotalAttributeCount()).isGreaterThanOrEqualTo(4);
    assertThat(first.getAttributes().get(stringKey("exception.message"))).isEqualTo("other");
    assertThat(first.getAttributes().get(stringKey("exception.type"))).isEqualTo("io.in");
    assertThat(first.getAttributes().get(stringKey("exception.stacktrace"))).hasSize(5);
    EventData second = recording.only().getEvents().get(1);
    assertThat(second.getAttributes().get(stringKey("exception.message"))).isNull();
  }

  @Test
  void exceptionsOfNestedClasses_haveTheirCanonicalName() {
    Recording unlimited = maker.make(Setup.defaults());
    unlimited.root().recordException(new Inner("m")).end();

    assertThat(unlimited.only().getEvents().get(0).getAttributes().get(stringKey("exception.type")))
        .isEqualTo("io.inferspan.recording.SpanCasesTest.Inner");
  }

  @Test
  void end_acceptsEachTimestampExceptZero() {
    Span zero = recording.root();
    recording.clock().advance(Duration.ofNanos(5));
    zero.end(0, TimeUnit.SECONDS);
    Span negative = recording.root();
    negative.end(-1, TimeUnit.NANOSECONDS);
    Span instant = recording.root();
    instant.end(Instant.ofEpochSecond(3, 4));

    List<SpanData> spans = recording.spans();
    assertThat(spans.get(0).getEndEpochNanos() - spans.get(0).getStartEpochNanos()).isEqualTo(5);
    assertThat(spans.get(1).getEndEpochNanos()).isEqualTo(-1);
    assertThat(spans.get(2).getEndEpochNanos()).isEqualTo(3_000_000_004L);
  }

  @Test
  void latency_growsUntilTheEnd() {
    ReadableSpan span = (ReadableSpan) recording.root();
    recording.clock().advance(Duration.ofNanos(7));
    assertThat(span.getLatencyNanos()).isEqualTo(7);
    ((Span) span).end();
    recording.clock().advance(Duration.ofNanos(7));

    assertThat(span.getLatencyNanos()).isEqualTo(7);
    assertThat(span.hasEnded()).isTrue();
    assertThat(((Span) span).isRecording()).isFalse();
  }

  @Test
  void contextOfASpan_isEqualToTheApisOfTheSameIds() {
    SpanContext own = recording.root().getSpanContext();
    SpanContext same =
        SpanContext.create(
            own.getTraceId(), own.getSpanId(), own.getTraceFlags(), own.getTraceState());

    assertThat(own).isEqualTo(same).hasSameHashCodeAs(same);
    assertThat(same).isEqualTo(own);
    assertThat(own.isRemote()).isFalse();
    assertThat(own.getSpanIdBytes()).hasSize(8);
  }

  @Test
  void toString_namesTheSpan() {
    Span span = recording.start("a name", Context.root());

    assertThat(span).asString().contains("a name", span.getSpanContext().getTraceId());
  }

  private static final class Inner extends RuntimeException {
    private static final long serialVersionUID = 1;

    Inner(@org.jspecify.annotations.Nullable String message) {
      super(message);
    }
  }
}
