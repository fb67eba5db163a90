package io.inferspan.testing;

import io.inferspan.testing.SpanRecord.EventRecord;
import io.inferspan.testing.SpanRecord.LinkRecord;
import io.inferspan.testing.SpanRecord.Scope;
import io.inferspan.testing.SpanRecord.Status;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Reads the SDK's spans as {@link SpanRecord}s. */
final class SpanDataReader {
  private SpanDataReader() {}

  static SpanRecord read(SpanData span) {
    SpanContext context = span.getSpanContext();
    SpanContext parent = span.getParentSpanContext();
    return new SpanRecord(
        context.getTraceId(),
        context.getSpanId(),
        parent.isValid() ? parent.getSpanId() : "",
        Byte.toUnsignedInt(context.getTraceFlags().asByte()),
        text(context.getTraceState()),
        span.getName(),
        span.getKind(),
        span.getStartEpochNanos(),
        span.getEndEpochNanos(),
        map(span.getAttributes()),
        span.getEvents().stream().map(SpanDataReader::event).toList(),
        span.getLinks().stream().map(SpanDataReader::link).toList(),
        new Status(span.getStatus().getStatusCode(), span.getStatus().getDescription()),
        scope(span.getInstrumentationScopeInfo()),
        map(span.getResource().getAttributes()));
  }

  private static EventRecord event(EventData event) {
    return new EventRecord(event.getName(), event.getEpochNanos(), map(event.getAttributes()));
  }

  private static LinkRecord link(LinkData link) {
    SpanContext target = link.getSpanContext();
    return new LinkRecord(
        target.getTraceId(),
        target.getSpanId(),
        text(target.getTraceState()),
        map(link.getAttributes()));
  }

  private static Scope scope(InstrumentationScopeInfo scope) {
    String version = scope.getVersion();
    return new Scope(scope.getName(), version == null ? "" : version, map(scope.getAttributes()));
  }

  private static Map<String, Object> map(Attributes attributes) {
    Map<String, Object> map = new LinkedHashMap<>();
    attributes.forEach((key, value) -> map.put(key.getKey(), plain(value)));
    return map;
  }

  private static Object plain(Object value) {
    if (value instanceof Value<?> wrapped) {
      return plain(wrapped.getValue());
    }
    if (value instanceof List<?> list) {
      return list(list);
    }
    if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return Base64.getEncoder().encodeToString(copy);
    }
    boolean isPlain =
        value instanceof String
            || value instanceof Long
            || value instanceof Double
            || value instanceof Boolean;
    return isPlain ? value : "";
  }

  private static Object list(List<?> list) {
    if (!list.isEmpty() && list.get(0) instanceof KeyValue) {
      Map<String, Object> map = new LinkedHashMap<>();
      for (Object entry : list) {
        KeyValue pair = (KeyValue) entry;
        map.put(pair.getKey(), plain(pair.getValue()));
      }
      return Collections.unmodifiableMap(map);
    }
    List<Object> values = new ArrayList<>(list.size());
    list.forEach(value -> values.add(plain(value)));
    return Collections.unmodifiableList(values);
  }

  private static String text(TraceState state) {
    StringJoiner text = new StringJoiner(",");
    state.forEach((key, value) -> text.add(key + "=" + value));
    return text.toString();
  }
}
