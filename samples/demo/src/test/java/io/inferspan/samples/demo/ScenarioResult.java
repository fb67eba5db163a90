package io.inferspan.samples.demo;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.testing.SpanRecord;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The result of a scenario: the HTTP status, the trace, and the desk's view of it.
 *
 * @param view the data that the desk sends to the page
 */
record ScenarioResult(int httpStatus, Trace trace, JsonObject view) {

  static String name(SpanType type) {
    return type.name(SpanNaming.PROPOSAL);
  }

  /** Returns the request's row in the desk's list. */
  JsonObject summary() {
    return view.getJsonObject("summary");
  }

  List<SpanRecord> spans(SpanType type) {
    return trace.spans().stream().filter(span -> span.name().equals(name(type))).toList();
  }

  /** Returns the only span of a type. */
  SpanRecord span(SpanType type) {
    List<SpanRecord> found = spans(type);
    if (found.size() != 1) {
      throw new AssertionError("expected one span " + name(type) + ", but found " + found.size());
    }
    return found.get(0);
  }

  List<String> services(SpanType type) {
    return spans(type).stream().map(SpanRecord::serviceName).toList();
  }

  /** Returns the siblings of a span. */
  List<SpanRecord> siblings(SpanRecord one) {
    return trace.spans().stream()
        .filter(span -> span.parentSpanId().equals(one.parentSpanId()) && !span.equals(one))
        .toList();
  }

  /** Returns the P/D decision. */
  JsonObject decision() {
    return Objects.requireNonNull(view.getJsonObject("pd"), "no decision is shown");
  }

  double ttftMillis() {
    return Objects.requireNonNull(summary().getDouble("ttftMs"), "no first token is shown");
  }

  /** Returns the parts of the time to the first token, in milliseconds. */
  Map<String, Double> anatomy() {
    return view.getJsonObject("anatomy").getJsonArray("parts").stream()
        .map(JsonObject.class::cast)
        .collect(
            Collectors.toMap(
                part -> part.getString("key"),
                part -> part.getDouble("ms"),
                Double::sum,
                TreeMap::new));
  }
}
