package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.KernelSpans;
import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The number and durations of the calls that a folded span represents. A value that is not reported
 * is null.
 */
public record Fold(
    long count,
    @Nullable Long sumNanos,
    @Nullable Long minNanos,
    @Nullable Long p50Nanos,
    @Nullable Long p99Nanos,
    @Nullable Long maxNanos,
    @Nullable Long firstNanos,
    @Nullable Long lastNanos) {

  /**
   * Reads a folded span; returns null for other spans. Phases of a cold start count calls but are
   * not folded.
   */
  public static @Nullable Fold read(Node node) {
    if (!SpanTypes.isKernel(node.type()) || node.type() == KernelSpans.COLD_START_PART) {
      return null;
    }
    SpanDetail detail = node.detail();
    Long count = detail.count(KernelAttributes.COUNT);
    return count == null
        ? null
        : new Fold(
            count,
            value(detail, KernelAttributes.DURATION_SUM_NS),
            value(detail, KernelAttributes.DURATION_MIN_NS),
            value(detail, KernelAttributes.DURATION_P50_NS),
            value(detail, KernelAttributes.DURATION_P99_NS),
            value(detail, KernelAttributes.DURATION_MAX_NS),
            value(detail, KernelAttributes.FIRST_OFFSET_NS),
            value(detail, KernelAttributes.LAST_OFFSET_NS));
  }

  private static @Nullable Long value(SpanDetail detail, Attribute<Long> attribute) {
    return detail.count(attribute);
  }
}
