package io.inferspan.samples.desk.otlp;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.inferspan.semconv.Attribute;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Attributes, events, links and status text of a span.
 *
 * <p>Values are strings, longs, doubles, booleans, lists and maps.
 *
 * @param dropped the number of attributes, events and links that the SDK dropped
 */
public record SpanDetail(
    Map<String, Object> attributes,
    List<Event> events,
    List<Link> links,
    String statusText,
    long dropped) {

  /** An event of a span. */
  public record Event(String name, long epochNanos, Map<String, Object> attributes) {}

  /** A link to another span. */
  public record Link(TraceId trace, long spanId, Map<String, Object> attributes) {}

  static SpanDetail read(byte[] bytes) {
    Span span;
    try {
      span = Span.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("cannot decode a stored span", e);
    }
    return new SpanDetail(
        attributes(span.getAttributesList()),
        span.getEventsList().stream()
            .map(
                event ->
                    new Event(
                        event.getName(),
                        event.getTimeUnixNano(),
                        attributes(event.getAttributesList())))
            .toList(),
        span.getLinksList().stream()
            .map(
                link ->
                    new Link(
                        TraceId.of(link.getTraceId()),
                        spanId(link.getSpanId()),
                        attributes(link.getAttributesList())))
            .toList(),
        span.getStatus().getMessage(),
        Integer.toUnsignedLong(span.getDroppedAttributesCount())
            + Integer.toUnsignedLong(span.getDroppedEventsCount())
            + Integer.toUnsignedLong(span.getDroppedLinksCount()));
  }

  /** Returns the attributes by key. A repeated key has its last value. */
  static Map<String, Object> attributes(List<KeyValue> pairs) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    pairs.forEach(pair -> attributes.put(pair.getKey(), value(pair.getValue())));
    return attributes;
  }

  private static Object value(AnyValue value) {
    return switch (value.getValueCase()) {
      case BOOL_VALUE -> value.getBoolValue();
      case INT_VALUE -> value.getIntValue();
      case DOUBLE_VALUE -> value.getDoubleValue();
      case ARRAY_VALUE ->
          value.getArrayValue().getValuesList().stream().map(SpanDetail::value).toList();
      case KVLIST_VALUE -> attributes(value.getKvlistValue().getValuesList());
      case BYTES_VALUE -> Base64.getEncoder().encodeToString(value.getBytesValue().toByteArray());
      default -> value.getStringValue();
    };
  }

  /** Returns the span id; 0 if it is not eight bytes long. */
  static long spanId(ByteString bytes) {
    return bytes.size() == Long.BYTES ? bytes.asReadOnlyByteBuffer().getLong() : 0;
  }

  /** Returns an attribute by its key or else by its latest key, or null if it is absent. */
  public @Nullable Object value(Attribute<?> attribute) {
    Object value = attributes.get(attribute.key().getKey());
    if (value != null || attribute.latestKey() == null) {
      return value;
    }
    return attributes.get(attribute.latestKey().getKey());
  }

  /** Returns the attribute as text, or null if it is absent or empty. */
  public @Nullable String text(Attribute<?> attribute) {
    Object value = value(attribute);
    return value == null || value.equals("") ? null : value.toString();
  }

  /** Returns the attribute as a number, or null if it is not one. */
  public @Nullable Double number(Attribute<?> attribute) {
    return value(attribute) instanceof Number number && Double.isFinite(number.doubleValue())
        ? (Double) number.doubleValue()
        : null;
  }

  /** Returns the attribute as an integer, without decimals, or null if it is not a number. */
  public @Nullable Long count(Attribute<?> attribute) {
    return value(attribute) instanceof Number number ? (Long) number.longValue() : null;
  }
}
