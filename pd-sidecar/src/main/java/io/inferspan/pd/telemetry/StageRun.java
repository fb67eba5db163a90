package io.inferspan.pd.telemetry;

import io.opentelemetry.api.trace.SpanContext;

/**
 * Records the duration of a stage, and its failure.
 *
 * <p>A stage that is cancelled, because its client disconnected or another stage failed, is not
 * recorded.
 */
public final class StageRun {
  private final SidecarMetrics metrics;
  private final Stage stage;
  private final SpanContext span;
  private final long startedNanos = System.nanoTime();
  private boolean over;

  StageRun(SidecarMetrics metrics, Stage stage, SpanContext span) {
    this.metrics = metrics;
    this.stage = stage;
    this.span = span;
  }

  /** Ends the stage successfully, unless it has failed. */
  public void ended() {
    if (!over) {
      over = true;
      metrics.stageEnded(stage, System.nanoTime() - startedNanos, span);
    }
  }

  public void failed() {
    if (!over) {
      metrics.stageFailed(stage, span);
      ended();
    }
  }
}
