package io.inferspan.gateway;

/** Which calls of engines get a span of their own. */
public enum AttemptSpans {
  /**
   * Those of a request that needs more than one, so that the tree of any other is llm-d's.
   *
   * <p>The first call has been made by then: its span is written in hindsight, and what its engine
   * records hangs beside it, under the request.
   */
  ON_RETRY,
  /** Every one. */
  ALWAYS
}
