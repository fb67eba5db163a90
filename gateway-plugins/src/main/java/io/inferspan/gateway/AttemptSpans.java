package io.inferspan.gateway;

/** Selects the calls to engines that get a span. */
public enum AttemptSpans {
  /**
   * Calls of requests that need more than one, so that the span trees of all other requests are
   * like llm-d's.
   *
   * <p>The span of the first call is created afterwards, when the second one starts. The engine's
   * spans of the first call are therefore its siblings, under the request.
   */
  ON_RETRY,
  /** All calls. */
  ALWAYS
}
