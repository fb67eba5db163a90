package io.inferspan.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls with unexpected nulls: our recording ignores them, as the SDK does. */
@SuppressWarnings("NullAway") // null is passed on purpose
class CarelessCallsTest {

  private static final AttributeKey<String> NO_KEY = null;
  private static final SpanContext OTHER =
      SpanContext.create(
          "0af7651916cd43dd8448eb211c80319c",
          "b7ad6b7169203331",
          TraceFlags.getSampled(),
          TraceState.getDefault());

  static Stream<Arguments> namesOfNothing() {
    return Stream.of(Arguments.of((String) null), Arguments.of(""), Arguments.of(" "));
  }

  static Stream<Arguments> callsOfABuilder() {
    return Stream.of(
        builder("setAttribute(null key)", b -> b.setAttribute(NO_KEY, "x")),
        builder("setAttribute(null value)", b -> b.setAttribute("k", null)),
        builder("setAttribute(empty key)", b -> b.setAttribute("", "x")),
        builder("addLink(null)", b -> b.addLink(null)),
        builder("addLink(null, ...)", b -> b.addLink(null, Attributes.empty())),
        builder("addLink(..., null)", b -> b.addLink(OTHER, null)),
        builder("setSpanKind(null)", b -> b.setSpanKind(null)),
        builder("setParent(null)", b -> b.setParent(null)),
        builder("setStartTimestamp(null unit)", b -> b.setStartTimestamp(5, null)),
        builder("setStartTimestamp(null)", b -> b.setStartTimestamp(null)),
        builder("setStartTimestamp(-1)", b -> b.setStartTimestamp(-1, TimeUnit.SECONDS)));
  }

  static Stream<Arguments> callsOfASpan() {
    return Stream.of(
        span("updateName(null)", s -> s.updateName(null)),
        span("setStatus(null)", s -> s.setStatus(null)),
        span("setStatus(null, ...)", s -> s.setStatus(null, "x")),
        span("setStatus(ERROR, null)", s -> s.setStatus(StatusCode.ERROR, null)),
        span("setAttribute(null key)", s -> s.setAttribute(NO_KEY, "x")),
        span("setAttribute(null value)", s -> s.setAttribute("k", (String) null)),
        span("setAttribute(empty key)", s -> s.setAttribute("", "x")),
        span("setAllAttributes(null)", s -> s.setAllAttributes(null)),
        span("addLink(null)", s -> s.addLink(null)),
        span("addLink(..., null)", s -> s.addLink(OTHER, null)),
        span("end(null unit)", s -> s.end(0, null)),
        span("end(null)", s -> s.end((Instant) null)));
  }

  static Stream<Arguments> eventsOfASpan() {
    return Stream.of(
        span("addEvent(null)", s -> s.addEvent(null)),
        span("addEvent(null, ...)", s -> s.addEvent(null, Attributes.empty())),
        span("addEvent(..., null)", s -> s.addEvent("e", (Attributes) null)),
        span("addEvent(null unit)", s -> s.addEvent("e", 5, null)),
        span("addEvent(null instant)", s -> s.addEvent("e", (Instant) null)),
        span("addEvent(null, 5)", s -> s.addEvent("e", null, 5, TimeUnit.SECONDS)),
        span("recordException(null)", s -> s.recordException(null)),
        span("recordException(..., null)", s -> s.recordException(new Unprinted(), null)));
  }

  private static Arguments builder(String name, Consumer<SpanBuilder> call) {
    return Arguments.argumentSet(name, call);
  }

  private static Arguments span(String name, Consumer<Span> call) {
    return Arguments.argumentSet(name, call);
  }

  @ParameterizedTest
  @MethodSource("namesOfNothing")
  void spanWithoutAName_getsTheSdksDefaultName(String name) {
    assertSame(recording -> recording.tracer().spanBuilder(name).startSpan().end());
  }

  @ParameterizedTest
  @MethodSource("callsOfABuilder")
  void builderCalledWithNull_createsTheSameSpanAsTheSdks(Consumer<SpanBuilder> call) {
    assertSame(
        recording -> {
          SpanBuilder builder = recording.tracer().spanBuilder("s");
          call.accept(builder);
          builder.startSpan().end();
        });
  }

  @ParameterizedTest
  @MethodSource({"callsOfASpan", "eventsOfASpan"})
  void spanCalledWithNull_recordsTheSameAsTheSdks(Consumer<Span> call) {
    assertSame(
        recording -> {
          Span span = recording.tracer().spanBuilder("s").startSpan();
          call.accept(span);
          span.end();
        });
  }

  private static void assertSame(Consumer<Recording> work) {
    List<Recording> both = RecordingSpanTest.recordings().toList();
    both.forEach(work);
    SpanData ours = both.get(0).only();
    SpanData theirs = both.get(1).only();

    assertThat(ours.getName()).isNotNull();
    assertThat(described(ours)).isEqualTo(described(theirs));
  }

  private static String described(SpanData span) {
    return String.join(
        "\n",
        span.getName(),
        span.getKind().name(),
        span.getStatus().getStatusCode() + " " + span.getStatus().getDescription(),
        span.getAttributes().asMap().toString(),
        span.getStartEpochNanos() + " " + span.getEndEpochNanos(),
        span.getEvents().stream().map(CarelessCallsTest::described).toList().toString(),
        span.getLinks().stream().map(CarelessCallsTest::described).toList().toString());
  }

  private static String described(EventData event) {
    Set<String> keys = new TreeSet<>();
    event.getAttributes().forEach((key, value) -> keys.add(key.getKey()));
    return event.getEpochNanos() + event.getName() + keys;
  }

  private static String described(LinkData link) {
    return link.getSpanContext().getSpanId() + link.getAttributes().asMap();
  }

  /** An exception without a stack trace, which would differ between the compared calls. */
  private static final class Unprinted extends RuntimeException {
    Unprinted() {
      super("m", null, false, false);
    }
  }
}
