package io.inferspan.recording;

import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the SDK gives to all spans.
 *
 * @param resource who the process is
 * @param sampler decides which spans are recorded
 * @param processor takes the spans that have ended
 * @param limits bounds what a span may carry
 * @param traceIds makes the ids of traces
 * @param spanIds makes the ids of spans, as numbers; zero is passed over
 * @param clock tells the time
 * @param crowded whether there is no room for the spans of one more request
 */
public record SpanPipeline(
    Resource resource,
    Sampler sampler,
    SpanProcessor processor,
    SpanLimits limits,
    Supplier<String> traceIds,
    LongSupplier spanIds,
    Clock clock,
    BooleanSupplier crowded) {

  FlatAttributes attributes(int room) {
    return new FlatAttributes(
        limits.getMaxNumberOfAttributes(), limits.getMaxAttributeValueLength(), room);
  }

  boolean isCrowded() {
    return crowded.getAsBoolean();
  }

  long spanId() {
    long id = spanIds.getAsLong();
    return id != 0 ? id : spanId();
  }
}
