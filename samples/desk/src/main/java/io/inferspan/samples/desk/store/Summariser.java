package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/** Summarises traces. Implementations must be thread-safe. */
@FunctionalInterface
public interface Summariser {

  /** Returns the summary with {@code seq} 0, or null if the trace is not a request. */
  @Nullable Summary summarise(TraceSpans trace);
}
