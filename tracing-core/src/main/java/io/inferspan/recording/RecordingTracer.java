package io.inferspan.recording;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;

/** Makes spans of one instrumentation scope. */
public final class RecordingTracer implements Tracer {

  /** Room for attributes of spans outside the catalogue. */
  private static final int SOME_ATTRIBUTES = 8;

  private static final String UNNAMED = "<unspecified span name>";

  private final SpanPipeline pipeline;
  private final InstrumentationScopeInfo scope;

  /** Creates the tracer of {@code scope}. */
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
        this, isBlank(spanName) ? UNNAMED : spanName, SpanKind.INTERNAL, SOME_ATTRIBUTES);
  }

  /** A span of the catalogue; {@code attributes} is how many attributes it usually has. */
  public RecordingSpanBuilder spanBuilder(
      String name, SpanKind kind, Context parent, int attributes) {
    return new RecordingSpanBuilder(this, name, kind, attributes).setParent(parent);
  }

  @SuppressWarnings("NullAway") // others call this, and not all of them check
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
