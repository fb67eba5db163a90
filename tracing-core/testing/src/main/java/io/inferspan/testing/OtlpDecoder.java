package io.inferspan.testing;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.inferspan.testing.SpanRecord.EventRecord;
import io.inferspan.testing.SpanRecord.LinkRecord;
import io.inferspan.testing.SpanRecord.Scope;
import io.inferspan.testing.SpanRecord.Status;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Decodes OTLP trace export requests (protobuf bytes) into {@link SpanRecord}s. */
final class OtlpDecoder {
  private static final HexFormat HEX = HexFormat.of();

  private OtlpDecoder() {}

  static List<SpanRecord> decode(byte[] exportRequest) throws InvalidProtocolBufferException {
    ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(exportRequest);
    List<SpanRecord> spans = new ArrayList<>();
    for (ResourceSpans resourceSpans : request.getResourceSpansList()) {
      Map<String, Object> resource = map(resourceSpans.getResource().getAttributesList());
      for (ScopeSpans scopeSpans : resourceSpans.getScopeSpansList()) {
        Scope scope = scope(scopeSpans.getScope());
        scopeSpans.getSpansList().forEach(span -> spans.add(span(span, scope, resource)));
      }
    }
    return spans;
  }

  private static SpanRecord span(Span span, Scope scope, Map<String, Object> resource) {
    return new SpanRecord(
        hex(span.getTraceId()),
        hex(span.getSpanId()),
        hex(span.getParentSpanId()),
        // OTLP stores information about the parent above the low byte, which has the W3C flags.
        span.getFlags() & 0xff,
        span.getTraceState(),
        span.getName(),
        kind(span.getKind()),
        span.getStartTimeUnixNano(),
        span.getEndTimeUnixNano(),
        map(span.getAttributesList()),
        span.getEventsList().stream().map(OtlpDecoder::event).toList(),
        span.getLinksList().stream().map(OtlpDecoder::link).toList(),
        status(span),
        scope,
        resource);
  }

  private static EventRecord event(Span.Event event) {
    return new EventRecord(
        event.getName(), event.getTimeUnixNano(), map(event.getAttributesList()));
  }

  private static LinkRecord link(Span.Link link) {
    return new LinkRecord(
        hex(link.getTraceId()),
        hex(link.getSpanId()),
        link.getTraceState(),
        map(link.getAttributesList()));
  }

  private static Scope scope(InstrumentationScope scope) {
    return new Scope(scope.getName(), scope.getVersion(), map(scope.getAttributesList()));
  }

  private static Status status(Span span) {
    StatusCode code =
        switch (span.getStatus().getCode()) {
          case STATUS_CODE_OK -> StatusCode.OK;
          case STATUS_CODE_ERROR -> StatusCode.ERROR;
          case STATUS_CODE_UNSET, UNRECOGNIZED -> StatusCode.UNSET;
        };
    return new Status(code, span.getStatus().getMessage());
  }

  private static SpanKind kind(Span.SpanKind kind) {
    return switch (kind) {
      case SPAN_KIND_SERVER -> SpanKind.SERVER;
      case SPAN_KIND_CLIENT -> SpanKind.CLIENT;
      case SPAN_KIND_PRODUCER -> SpanKind.PRODUCER;
      case SPAN_KIND_CONSUMER -> SpanKind.CONSUMER;
      case SPAN_KIND_INTERNAL, SPAN_KIND_UNSPECIFIED, UNRECOGNIZED -> SpanKind.INTERNAL;
    };
  }

  private static Map<String, Object> map(List<KeyValue> attributes) {
    Map<String, Object> map = new LinkedHashMap<>();
    attributes.forEach(attribute -> map.put(attribute.getKey(), plain(attribute.getValue())));
    return Collections.unmodifiableMap(map);
  }

  private static Object plain(AnyValue value) {
    return switch (value.getValueCase()) {
      case STRING_VALUE -> value.getStringValue();
      case BOOL_VALUE -> value.getBoolValue();
      case INT_VALUE -> value.getIntValue();
      case DOUBLE_VALUE -> value.getDoubleValue();
      case ARRAY_VALUE ->
          value.getArrayValue().getValuesList().stream().map(OtlpDecoder::plain).toList();
      case KVLIST_VALUE -> map(value.getKvlistValue().getValuesList());
      case BYTES_VALUE -> Base64.getEncoder().encodeToString(value.getBytesValue().toByteArray());
      default -> "";
    };
  }

  private static String hex(ByteString id) {
    return HEX.formatHex(id.toByteArray());
  }
}
