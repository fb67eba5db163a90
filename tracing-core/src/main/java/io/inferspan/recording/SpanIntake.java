package io.inferspan.recording;

/** Decides whether the pipeline accepts more spans. */
public interface SpanIntake {

  /** Returns whether the export queue may lack room for the spans of another request. */
  boolean isNearlyFull();

  /** Counts a span that is not recorded because the export queue is nearly full. */
  void refused();

  /** Returns whether the pipeline was shut down. */
  boolean isStopped();
}
