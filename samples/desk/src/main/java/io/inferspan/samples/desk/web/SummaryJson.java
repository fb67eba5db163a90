package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.Decision;
import io.inferspan.samples.desk.store.History;
import io.inferspan.samples.desk.store.Latency;
import io.inferspan.samples.desk.store.Summary;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Writes summaries as JSON. */
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
        .put("why", summary.why().sentence())
        .put("whySpan", HexFormat.of().toHexDigits(summary.why().spanId()));
  }

  /** Writes a row of the history's decision table. */
  static void writeDecision(Json json, Summary summary) {
    Decision decision = summary.decision();
    json.put("traceId", summary.traceId().toString())
        .put("startMs", epochMillis(summary.head().startNanos()))
        .put("model", summary.model());
    if (decision != null) {
      json.put("route", decision.route())
          .put("decision", decision.decision())
          .put("reason", decision.reason())
          .put("pdThreshold", decision.inputs().pdThreshold())
          .put("nonCachedBytes", decision.inputs().nonCachedBytes())
          .put("userInputBytes", decision.inputs().userInputBytes())
          .put("prefillPod", decision.prefillPod())
          .put("decodePod", decision.decodePod());
    }
    json.put("kvHitRatio", summary.kvHitRatio()).put("ttftMs", summary.outcome().ttftMillis());
  }

  static void writeSlice(Json json, History.Slice slice) {
    json.put("startMs", epochMillis(slice.startNanos()))
        .put("requests", slice.requests())
        .put("failed", slice.failed())
        .put("disaggregated", slice.disaggregated())
        .put("kvHitRatio", known(slice.kvHitRatio()));
  }

  static void writeGroup(Json json, Latency.Group group) {
    json.put("name", group.name())
        .put("requests", group.requests())
        .put("errors", group.errors())
        .putObject("ttftMs", inner -> write(inner, group.ttft()))
        .putObject("tokenGapMs", inner -> write(inner, group.tokenGap()))
        .putObject("tokensPerSecond", inner -> write(inner, group.tokenRate()));
  }

  private static void write(Json json, Latency.Percentiles percentiles) {
    json.put("p50", known(percentiles.p50()))
        .put("p95", known(percentiles.p95()))
        .put("p99", known(percentiles.p99()));
  }

  private static @Nullable Double known(double value) {
    return Double.isNaN(value) ? null : (Double) value;
  }

  /** Converts to milliseconds since 1970, with as many decimals as a double holds. */
  static Double epochMillis(long nanos) {
    return nanos / NANOS_PER_MILLI;
  }
}
