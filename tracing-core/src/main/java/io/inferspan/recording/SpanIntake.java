package io.inferspan.recording;

/** Decides whether the pipeline accepts more spans. */
public interface SpanIntake {

  /** Returns whether the queue may have too little room for the spans of another request. */
  boolean isCrowded();

  /** Counts a span that was dropped because of {@link #isCrowded()}. */
  void refused();

  /** Returns whether the pipeline was shut down. */
  boolean isStopped();
}
