package io.inferspan.gateway;

/** Selects the calls to engines that get a span. */
public enum AttemptSpans {
  /**
   * Those of a request that needs more than one, so that the tree of any other is llm-d's.
   *
   * <p>The first call has been made by then: its span is written in hindsight, and what its engine
   * records is its sibling, under the request.
   */
  ON_RETRY,
  /** Every one. */
  ALWAYS
}
