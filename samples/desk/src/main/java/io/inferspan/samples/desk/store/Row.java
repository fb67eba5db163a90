package io.inferspan.samples.desk.store;

/**
 * The values of a summary that a search compares. One flat object holds them, because memory access
 * dominates a search over many rows.
 *
 * @param ttftMillis -1 if no span recorded a first token
 */
record Row(
    Summary summary,
    Names names,
    Status status,
    double durationMillis,
    double ttftMillis,
    long traceHigh,
    long traceLow) {

  static Row of(Summary summary, Names names) {
    Double ttft = summary.outcome().ttftMillis();
    return new Row(
        summary,
        names,
        summary.outcome().status(),
        summary.head().durationMillis(),
        ttft == null ? -1 : ttft,
        summary.traceId().high(),
        summary.traceId().low());
  }
}
