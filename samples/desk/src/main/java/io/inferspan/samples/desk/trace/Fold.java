package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import org.jspecify.annotations.Nullable;

/** How many like events one span stands for, and how long they took; null for what is not said. */
public record Fold(
    long count,
    @Nullable Long sumNanos,
    @Nullable Long minNanos,
    @Nullable Long p50Nanos,
    @Nullable Long p99Nanos,
    @Nullable Long maxNanos,
    @Nullable Long firstNanos,
    @Nullable Long lastNanos) {

  /** Null for a span that stands for itself. */
  public static @Nullable Fold read(Node node) {
    if (!SpanTypes.isKernel(node.type())) {
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
