package io.inferspan.gateway;

/** Selects the calls to engines that get a span. */
public enum AttemptSpans {
  /**
   * Calls of requests with more than one call. The spans of all other requests form the same tree
   * as in llm-d.
   *
   * <p>The span of the first call is created only when the second call starts. The engine's spans
   * of the first call are therefore siblings of that span, not its children.
   */
  ON_RETRY,
  /** All calls. */
  ALWAYS
}
