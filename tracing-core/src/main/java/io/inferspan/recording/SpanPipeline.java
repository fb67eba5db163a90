package io.inferspan.recording;

import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;

/**
 * What the SDK gives to all spans.
 *
 * @param resource who the process is
 * @param sampler decides which spans are recorded
 * @param processor takes the spans that have ended
 * @param limits bounds what a span may carry
 * @param ids makes trace and span ids
 * @param clock tells the time
 */
public record SpanPipeline(
    Resource resource,
    Sampler sampler,
    SpanProcessor processor,
    SpanLimits limits,
    IdGenerator ids,
    Clock clock) {

  FlatAttributes attributes() {
    return new FlatAttributes(
        limits.getMaxNumberOfAttributes(), limits.getMaxAttributeValueLength());
  }
}
