package io.inferspan.recording;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.jspecify.annotations.Nullable;

/**
 * The SDK components shared by all spans.
 *
 * @param resource describes the process
 * @param sampler decides which spans are recorded
 * @param processor receives started and ended spans
 * @param limits limits the contents of a span
 * @param ids generates random trace and span ids
 * @param clock the wall clock
 * @param intake decides whether more spans are accepted
 */
public record SpanPipeline(
    Resource resource,
    Sampler sampler,
    SpanProcessor processor,
    SpanLimits limits,
    IdGenerator ids,
    Clock clock,
    SpanIntake intake) {

  FlatAttributes attributes(int capacity) {
    return new FlatAttributes(
        limits.getMaxNumberOfAttributes(), limits.getMaxAttributeValueLength(), capacity);
  }

  EventData event(long epochNanos, String name, @Nullable Attributes given) {
    int size = given == null ? 0 : given.size();
    return EventData.create(
        epochNanos, name, limited(given, limits.getMaxNumberOfAttributesPerEvent()), size);
  }

  LinkData link(SpanContext linked, @Nullable Attributes given) {
    int size = given == null ? 0 : given.size();
    return LinkData.create(linked, limited(given, limits.getMaxNumberOfAttributesPerLink()), size);
  }

  private Attributes limited(@Nullable Attributes given, int maxAttributes) {
    if (given == null || given.isEmpty()) {
      return Attributes.empty();
    }
    int maxValueChars = limits.getMaxAttributeValueLength();
    if (given.size() <= maxAttributes && maxValueChars == Integer.MAX_VALUE) {
      return given;
    }
    FlatAttributes limited =
        new FlatAttributes(maxAttributes, maxValueChars, Math.min(given.size(), maxAttributes));
    limited.putAll(given);
    return limited;
  }
}
