package io.inferspan.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OtlpJsonLines;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Counts of dropped attributes, and flags of links, in OTLP/JSON. */
class OtlpJsonTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN_ID = "b7ad6b7169203331";
  private static final SpanContext HERE =
      SpanContext.create(TRACE_ID, SPAN_ID, TraceFlags.getSampled(), TraceState.getDefault());
  private static final SpanContext THERE =
      SpanContext.createFromRemoteParent(
          TRACE_ID, SPAN_ID, TraceFlags.getDefault(), TraceState.getDefault());
  private static final Attributes ONE = Attributes.of(AttributeKey.stringKey("k"), "v");

  /** Returns an ended span without attributes, events and links. */
  static TestSpanData.Builder span() {
    return TestSpanData.builder()
        .setName("s")
        .setKind(SpanKind.INTERNAL)
        .setStatus(StatusData.unset())
        .setHasEnded(true)
        .setStartEpochNanos(1)
        .setEndEpochNanos(2);
  }

  @Test
  void eventWithDroppedAttributes_reportsTheirNumber() {
    List<Map<String, Object>> events =
        OtlpJsonLines.list(
            encoded(
                span()
                    .setEvents(
                        List.of(EventData.create(1, "e", ONE, 4), EventData.create(1, "f", ONE, 1)))
                    .build()),
            "events");

    assertThat(events.get(0)).containsEntry("droppedAttributesCount", 3L);
    assertThat(events.get(1)).doesNotContainKey("droppedAttributesCount");
  }

  @Test
  void linkWithDroppedAttributes_reportsTheirNumber() {
    List<Map<String, Object>> links =
        OtlpJsonLines.list(
            encoded(
                span()
                    .setLinks(List.of(LinkData.create(HERE, ONE, 3), LinkData.create(HERE, ONE)))
                    .build()),
            "links");

    assertThat(links.get(0)).containsEntry("droppedAttributesCount", 2L);
    assertThat(links.get(1)).doesNotContainKey("droppedAttributesCount");
  }

  /** Bit 0 means sampled, bit 8 that bit 9 is set, and bit 9 that the context is remote. */
  @Test
  void links_carryFlags() {
    List<Map<String, Object>> links =
        OtlpJsonLines.list(
            encoded(
                span().setLinks(List.of(LinkData.create(HERE), LinkData.create(THERE))).build()),
            "links");

    assertThat(links.get(0)).containsEntry("flags", 0x101L).containsEntry("spanId", SPAN_ID);
    assertThat(links.get(1)).containsEntry("flags", 0x300L).containsEntry("traceId", TRACE_ID);
  }

  private static Map<String, Object> encoded(SpanData span) {
    return OtlpJsonLines.spans(OtlpJsonLines.written(List.of(span))).get(0);
  }
}
