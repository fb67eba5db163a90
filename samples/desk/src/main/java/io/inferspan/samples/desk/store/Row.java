package io.inferspan.samples.desk.store;

/**
 * A line of the list as a search looks at it: what is asked for lies side by side, as a search over
 * many lines takes as long as memory does.
 *
 * @param ttftMillis -1 where no span saw a first token
 * @param idHigh the first letters of the request's id, as {@link Prefix} has them
 */
record Row(
    Summary summary,
    Names names,
    Status status,
    double durationMillis,
    double ttftMillis,
    long idHigh,
    long idLow,
    long traceHigh,
    long traceLow) {

  static Row of(Summary summary, Names names) {
    Double ttft = summary.outcome().ttftMillis();
    String said = summary.requestId();
    String id = said == null ? "" : said;
    return new Row(
        summary,
        names,
        summary.outcome().status(),
        summary.head().durationMillis(),
        ttft == null ? -1 : ttft,
        Prefix.letters(id, 0),
        Prefix.letters(id, Long.BYTES),
        summary.traceId().high(),
        summary.traceId().low());
  }
}
