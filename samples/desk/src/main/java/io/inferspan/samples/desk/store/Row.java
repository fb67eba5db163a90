package io.inferspan.samples.desk.store;

/**
 * A row for searching: the compared values are in one object, since memory access dominates a
 * search over many rows.
 *
 * @param ttftMillis -1 where no span saw a first token
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
