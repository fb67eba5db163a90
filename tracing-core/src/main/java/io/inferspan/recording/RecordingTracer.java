package io.inferspan.recording;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;

/** Makes spans of one instrumentation scope. */
public final class RecordingTracer implements Tracer {

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
    return new RecordingSpanBuilder(this, isBlank(spanName) ? UNNAMED : spanName);
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
