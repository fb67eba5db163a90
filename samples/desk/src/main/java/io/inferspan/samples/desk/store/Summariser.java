package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/** Summarises a trace; thread-safe. */
@FunctionalInterface
public interface Summariser {

  /** The summary without a number; null if the trace is not a request. */
  @Nullable Summary summarise(TraceSpans trace);
}
