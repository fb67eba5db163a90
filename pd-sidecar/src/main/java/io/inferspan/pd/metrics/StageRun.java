package io.inferspan.pd.metrics;

import io.opentelemetry.api.trace.SpanContext;

/**
 * One run of a stage as the metrics see it: a duration once, whether it ends well or fails, and at
 * most one failure.
 *
 * <p>A stage that is given up, because its client or another stage has gone, counts as neither.
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

  /** The stage has failed. */
  public void failed() {
    if (!over) {
      metrics.stageFailed(stage, span);
      ended();
    }
  }
}
