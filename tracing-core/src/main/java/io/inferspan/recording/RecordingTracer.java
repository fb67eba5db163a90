package io.inferspan.recording;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;

/** Creates the spans of one instrumentation scope. */
public final class RecordingTracer implements Tracer {

  /** The initial capacity for attributes of spans that are not in the catalogue. */
  private static final int DEFAULT_CAPACITY = 8;

  private static final String UNNAMED = "<unspecified span name>";

  private final SpanPipeline pipeline;
  private final InstrumentationScopeInfo scope;

  /** Creates a tracer for {@code scope}. */
  public RecordingTracer(SpanPipeline pipeline, InstrumentationScopeInfo scope) {
    this.pipeline = pipeline;
    this.scope = scope;
  }

  @Override
  public SpanBuilder spanBuilder(String spanName) {
    if (pipeline.intake().isStopped()) {
      return TracerProvider.noop().get(scope.getName()).spanBuilder(spanName);
    }
    return new RecordingSpanBuilder(
        this, isBlank(spanName) ? UNNAMED : spanName, SpanKind.INTERNAL, DEFAULT_CAPACITY);
  }

  /**
   * Returns a builder for a span of the catalogue.
   *
   * @param capacity the initial capacity for attributes
   */
  public RecordingSpanBuilder spanBuilder(
      String name, SpanKind kind, Context parent, int capacity) {
    return new RecordingSpanBuilder(this, name, kind, capacity).setParent(parent);
  }

  @SuppressWarnings("NullAway") // callers may pass null
  private static boolean isBlank(String name) {
    return name == null || name.isBlank();
  }

  SpanPipeline pipeline() {
    return pipeline;
  }

  InstrumentationScopeInfo scope() {
    return scope;
  }
}
