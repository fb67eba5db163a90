package io.inferspan.setup;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;

/** Always samples the endpoint picker's startup span; samples all other spans as configured. */
record StartupSampler(Sampler configured) implements Sampler {
  private static final String STARTUP = EppSpans.STARTUP.name(SpanNaming.PROPOSAL);

  /** Wraps a sampler; one that never samples a root span is returned unchanged. */
  static Sampler around(Sampler configured) {
    String description = configured.getDescription();
    return description.startsWith("AlwaysOff")
            || description.startsWith("ParentBased{root:AlwaysOff")
        ? configured
        : new StartupSampler(configured);
  }

  @Override
  public SamplingResult shouldSample(
      Context parent,
      String traceId,
      String name,
      SpanKind kind,
      Attributes attributes,
      List<LinkData> links) {
    return name.equals(STARTUP)
        ? SamplingResult.recordAndSample()
        : configured.shouldSample(parent, traceId, name, kind, attributes, links);
  }

  @Override
  public String getDescription() {
    return configured.getDescription();
  }

  @Override
  public String toString() {
    return getDescription();
  }
}
