package io.inferspan.samples.desk.store;

/** Makes the line of the list out of a trace's spans; any thread asks it. */
@FunctionalInterface
public interface Summariser {

  /** The summary, not numbered yet. */
  Summary summarise(TraceSpans trace);
}
