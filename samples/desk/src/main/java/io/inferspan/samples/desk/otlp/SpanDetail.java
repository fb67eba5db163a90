package io.inferspan.samples.desk.otlp;

import io.inferspan.semconv.Attribute;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that a span carries beside its place in the trace.
 *
 * <p>Values are texts, longs, doubles, booleans, lists and maps of such.
 *
 * @param dropped attributes, events and links that its maker left out
 */
public record SpanDetail(
    Map<String, Object> attributes,
    List<Event> events,
    List<Link> links,
    String statusText,
    long dropped) {

  /** Something that happened while the span ran. */
  public record Event(String name, long epochNanos, Map<String, Object> attributes) {}

  /** Another span that this one has to do with. */
  public record Link(TraceId trace, long spanId) {}

  /** An attribute under its older or its newer key, if it is there. */
  public @Nullable Object value(Attribute<?> attribute) {
    Object value = attributes.get(attribute.key().getKey());
    if (value != null || attribute.latestKey() == null) {
      return value;
    }
    return attributes.get(attribute.latestKey().getKey());
  }

  /** The attribute as text, if it is there and is not empty. */
  public @Nullable String text(Attribute<?> attribute) {
    Object value = value(attribute);
    return value == null || value.equals("") ? null : value.toString();
  }

  /** The attribute as a number, if it is one. */
  public @Nullable Double number(Attribute<?> attribute) {
    return value(attribute) instanceof Number number && Double.isFinite(number.doubleValue())
        ? (Double) number.doubleValue()
        : null;
  }

  /** The attribute as a whole number, if it is one. */
  public @Nullable Long count(Attribute<?> attribute) {
    return value(attribute) instanceof Number number ? (Long) number.longValue() : null;
  }
}
