package io.inferspan.recording;

import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.TestOptions;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The limits of attributes, and their independence from callers and builders. */
class FlatAttributesTest {

  private static final String RECORDINGS = "io.inferspan.recording.RecordingSpanTest#recordings";

  @Test
  void greatestLimit_keepsAttributes() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      try (Telemetry telemetry =
          Telemetry.initTracing(
              TestOptions.exportingTo(receiver)
                  .setting("otel.span.attribute.count.limit", "2147483647")
                  .setting("otel.attribute.value.length.limit", "2147483647")
                  .setting("inferspan.attributes.allow", "app.")
                  .build())) {
        Span span = telemetry.tracer("own").spanBuilder("s").startSpan();
        span.setAttribute("app.a", "1").setAttribute("app.b", "2").end();
      }

      assertThat(receiver.spans().get(0).attributes())
          .isEqualTo(Map.of("app.a", "1", "app.b", "2"));
    }
  }

  @Test
  void limit_keepsTheFirstKeysAndCountsTheRest() {
    FlatAttributes attributes = new FlatAttributes(1, 10, 1);
    attributes.put(stringKey("a"), "1");
    attributes.put(stringKey("b"), "2");
    attributes.put(stringKey("a"), "3");

    assertThat(attributes.asMap()).isEqualTo(Map.of(stringKey("a"), "3"));
    assertThat(attributes.total()).isEqualTo(2);
  }

  @Test
  void moreNamesThanBloomBits_areEachStoredOnce() {
    FlatAttributes attributes = new FlatAttributes(200, 10, 0);
    for (String value : List.of("first", "second")) {
      IntStream.range(0, 200).forEach(i -> attributes.put(stringKey("k" + i), value));
    }

    assertThat(attributes.total()).isEqualTo(200);
    assertThat(attributes.asMap()).hasSize(200);
    assertThat(attributes.asMap().values()).containsOnly("second");
  }

  @Test
  @SuppressWarnings("NullAway") // callers without a null checker may pass such lists
  void listWithNulls_isStoredWithEmptyStrings() {
    FlatAttributes attributes = new FlatAttributes(1, 3, 1);
    attributes.put(stringArrayKey("list"), Arrays.asList("abcd", null));

    assertThat(attributes.get(stringArrayKey("list"))).containsExactly("abc", "");
  }

  @Test
  void listChangedByItsOwner_isExportedUnchanged() {
    Recording recording = RecordingSpanTest.recordings().findFirst().orElseThrow();
    List<String> list = new ArrayList<>(List.of("x", "y"));
    SpanBuilder builder = recording.tracer().spanBuilder("s").setNoParent();
    Span span = builder.setAttribute(stringArrayKey("early"), list).startSpan();
    span.setAttribute(stringArrayKey("late"), list);
    list.set(0, "changed");
    list.add("added");
    span.end();

    SpanData data = recording.only();
    assertThat(data.getAttributes().get(stringArrayKey("early"))).containsExactly("x", "y");
    assertThat(data.getAttributes().get(stringArrayKey("late"))).containsExactly("x", "y");
  }

  @ParameterizedTest
  @MethodSource(RECORDINGS)
  void builderUsedAgain_doesNotWriteIntoTheStartedSpan(Recording recording) {
    SpanBuilder builder = recording.tracer().spanBuilder("s").setAttribute("a", "1");
    Span first = builder.startSpan();
    builder.setAttribute("a", "2").setAttribute("b", "2");
    first.end();

    assertThat(recording.only().getAttributes().asMap()).isEqualTo(Map.of(stringKey("a"), "1"));
  }
}
