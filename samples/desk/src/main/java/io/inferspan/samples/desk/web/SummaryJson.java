package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.Decision;
import io.inferspan.samples.desk.store.Summary;

/** Writes the lines of the lists. */
final class SummaryJson {

  private static final double NANOS_PER_MILLI = 1e6;

  private SummaryJson() {}

  static void write(Json json, Summary summary) {
    Summary.Head head = summary.head();
    Summary.Outcome outcome = summary.outcome();
    Decision decision = summary.decision();
    json.put("seq", (Long) summary.seq())
        .put("traceId", summary.traceId().toString())
        .put("name", head.name())
        .put("service", head.service())
        .putTexts("services", head.services())
        .put("startMs", epochMillis(head.startNanos()))
        .put("durationMs", (Double) head.durationMillis())
        .put("requestId", summary.requestId())
        .put("model", summary.model())
        .put("status", outcome.status().label())
        .put("errorType", outcome.errorType())
        .put("httpStatus", outcome.httpStatus())
        .put("ttftMs", outcome.ttftMillis())
        .put("tokens", outcome.tokens())
        .put("spans", summary.counts().spans())
        .put("errors", summary.counts().errors())
        .put("route", decision == null ? null : decision.route())
        .put("reason", decision == null ? null : decision.reason())
        .put("kvHitRatio", summary.kvHitRatio())
        .put("dropped", (Long) summary.counts().dropped())
        .put("folded", (Long) summary.counts().folded())
        .put("why", summary.why());
  }

  /** A line of the history; only requests that were decided on have one. */
  static void writeDecision(Json json, Summary summary) {
    Decision decision = summary.decision();
    json.put("traceId", summary.traceId().toString())
        .put("startMs", epochMillis(summary.head().startNanos()))
        .put("model", summary.model());
    if (decision != null) {
      json.put("route", decision.route())
          .put("decision", decision.decision())
          .put("reason", decision.reason())
          .put("pdThreshold", decision.grounds().pdThreshold())
          .put("nonCachedBytes", decision.grounds().nonCachedBytes())
          .put("userInputBytes", decision.grounds().userInputBytes())
          .put("prefillPod", decision.prefillPod())
          .put("decodePod", decision.decodePod());
    }
    json.put("kvHitRatio", summary.kvHitRatio()).put("ttftMs", summary.outcome().ttftMillis());
  }

  /** Milliseconds since 1970 with their fraction, as far as a double has one then. */
  static Double epochMillis(long nanos) {
    return nanos / NANOS_PER_MILLI;
  }
}
