package io.inferspan.metrics;

import io.inferspan.export.SpanCounts;
import io.inferspan.exporter.ExportAccounting;
import io.inferspan.privacy.AttributePolicy;
import io.inferspan.privacy.FailureTexts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/** Meters of the span pipeline: how many spans are exported, and why spans are lost. */
public record TelemetryMeters(
    ExportAccounting accounting, AttributePolicy attributes, FailureTexts failures)
    implements MeterBinder {
  private static final String DROPPED = "inferspan.spans.dropped";

  @Override
  public void bindTo(MeterRegistry registry) {
    spans(registry);
    queue(registry);
    exports(registry);
    FunctionCounter.builder("inferspan.descriptions.dropped", failures, FailureTexts::leftOut)
        .description("Failure descriptions that were not exported")
        .register(registry);
    attributes.onCountedKey(key -> droppedAttribute(registry, key));
  }

  private void spans(MeterRegistry registry) {
    counter("inferspan.spans.started", "Spans recorded", SpanCounts::started).register(registry);
    counter(
            "inferspan.spans.unsampled",
            "Unsampled spans, which only propagate their trace",
            SpanCounts::unsampled)
        .register(registry);
    counter("inferspan.spans.ended", "Recorded spans ended", SpanCounts::ended).register(registry);
    counter("inferspan.spans.exported", "Spans sent", SpanCounts::exported).register(registry);
    dropped(registry, "queue_full", counts -> counts.dropped().queueFull());
    dropped(registry, "export_failed", counts -> counts.dropped().exportFailed());
    dropped(registry, "shutdown", counts -> counts.dropped().shutdown());
    dropped(registry, "never_ended", counts -> counts.dropped().neverEnded());
  }

  private void dropped(MeterRegistry registry, String reason, ToLongFunction<SpanCounts> count) {
    counter(DROPPED, "Spans lost", count).tag("reason", reason).register(registry);
  }

  private FunctionCounter.Builder<ExportAccounting> counter(
      String name, String description, ToLongFunction<SpanCounts> count) {
    // No base unit, because Prometheus would append it to names that already contain it.
    return FunctionCounter.builder(name, accounting, a -> count.applyAsLong(a.counts()))
        .description(description);
  }

  private void queue(MeterRegistry registry) {
    Gauge.builder("inferspan.queue.size", accounting, ExportAccounting::queued)
        .description("Spans that wait for export")
        .register(registry);
    Gauge.builder("inferspan.queue.capacity", accounting, ExportAccounting::capacity)
        .description("Maximum number of spans that can wait for export")
        .register(registry);
  }

  private void exports(MeterRegistry registry) {
    FunctionTimer.builder(
            "inferspan.export.duration",
            accounting,
            ExportAccounting::exports,
            ExportAccounting::exportNanos,
            TimeUnit.NANOSECONDS)
        .description("Calls to the exporter")
        .register(registry);
    FunctionCounter.builder(
            "inferspan.export.failures", accounting, ExportAccounting::failedExports)
        .description("Failed calls to the exporter")
        .register(registry);
  }

  private void droppedAttribute(MeterRegistry registry, String key) {
    FunctionCounter.builder("inferspan.attributes.dropped", attributes, a -> a.dropped(key))
        .description("Attributes removed by the privacy guard")
        .tag("key", key)
        .register(registry);
  }
}
