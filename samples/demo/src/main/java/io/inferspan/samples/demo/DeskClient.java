package io.inferspan.samples.demo;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A client of the trace desk's API. */
final class DeskClient {

  private static final String ENGINE_SPAN = EngineSpans.LLM_REQUEST.name(SpanNaming.PROPOSAL);
  private static final String DECODE_SPAN = BatchSpans.DECODE.name(SpanNaming.PROPOSAL);
  private static final long POLL_MILLIS = 30;
  private static final int TIMEOUT_MILLIS = 5_000;

  /** The maximum wait for the first span: new processes take seconds on a busy machine. */
  private static final long FIRST_SPAN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final String desk;

  /** Creates a client of the desk at this address, which ends with a slash. */
  DeskClient(String desk) {
    this.desk = desk;
  }

  /**
   * A request and its trace.
   *
   * @param status {@code ok}, {@code error}, {@code open} or {@code broken}
   * @param why the main parts of the time, or the failure
   */
  record Trace(String id, String status, String why, List<SpanRecord> spans) {

    /** Returns whether the trace has the span of the request's decode steps in a batch. */
    boolean hasBatchSpans() {
      return spans.stream().anyMatch(span -> span.name().equals(DECODE_SPAN));
    }

    /**
     * Returns whether each engine span has a sibling of this service; true if {@code service} is
     * empty.
     */
    boolean engineSpansHaveSiblings(String service) {
      return service.isEmpty()
          || spans.stream()
              .filter(span -> span.name().equals(ENGINE_SPAN))
              .allMatch(span -> isSibling(span, service));
    }

    private boolean isSibling(SpanRecord engine, String service) {
      return spans.stream()
          .filter(span -> span.parentSpanId().equals(engine.parentSpanId()))
          .anyMatch(span -> span.serviceName().equals(service));
    }
  }

  /** Returns the desk's summaries of the newest requests that match a search. */
  List<JsonObject> search(String query) throws IOException {
    JsonArray requests = get("api/requests?limit=100&" + query).getJsonArray("requests");
    return requests.stream().map(JsonObject.class::cast).toList();
  }

  /**
   * Waits until a request's spans form one tree and no more arrive, and returns the trace.
   *
   * @param requestId the {@code x-request-id}
   * @param isComplete whether all required spans have arrived
   * @param quiet the time without new spans after which the trace is complete
   * @param limit the maximum wait after the first span, after which the trace is returned as it is
   * @return the trace, or null if no span of the request arrives
   */
  @Nullable Trace await(
      String requestId, Predicate<Trace> isComplete, Duration quiet, Duration limit)
      throws IOException, InterruptedException {
    String query = "q=" + URLEncoder.encode(requestId, StandardCharsets.UTF_8);
    long since = System.nanoTime();
    long changed = since;
    long seen = -1;
    String traceId = null;
    while (System.nanoTime() - since < (traceId == null ? FIRST_SPAN_NANOS : limit.toNanos())) {
      List<JsonObject> found = search(query);
      if (traceId == null && !found.isEmpty()) {
        since = System.nanoTime();
      }
      long spans = found.isEmpty() ? -1 : found.get(0).getLong("spans", 0L);
      traceId = found.isEmpty() ? null : found.get(0).getString("traceId");
      if (spans != seen) {
        seen = spans;
        changed = System.nanoTime();
      } else if (traceId != null && System.nanoTime() - changed >= quiet.toNanos()) {
        Trace trace = trace(traceId);
        if (SpanTree.of(trace.spans()).roots().size() == 1 && isComplete.test(trace)) {
          return trace;
        }
      }
      Thread.sleep(POLL_MILLIS);
    }
    return traceId == null ? null : trace(traceId);
  }

  /** Returns a trace with all spans that the desk has. */
  Trace trace(String traceId) throws IOException {
    JsonObject found = view(traceId);
    JsonObject summary = found.getJsonObject("summary");
    double start = summary.getDouble("startMs", 0.0);
    List<SpanRecord> spans =
        found.getJsonArray("spans").stream()
            .map(span -> span((JsonObject) span, traceId, start))
            .toList();
    return new Trace(traceId, summary.getString("status", ""), summary.getString("why", ""), spans);
  }

  /** Returns a trace as the JSON that the page shows. */
  JsonObject view(String traceId) throws IOException {
    return get("api/traces/" + traceId);
  }

  /** Returns the desk's explanation of a request and of its part in batches, line by line. */
  List<String> explain(String id) throws IOException {
    String query = "api/explain?id=" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    return text(query).lines().toList();
  }

  private static SpanRecord span(JsonObject json, String traceId, double startMillis) {
    long start = Math.round((startMillis + json.getDouble("atMs", 0.0)) * 1e6);
    boolean failed = json.getBoolean("error", false);
    return new SpanRecord(
        traceId,
        json.getString("id"),
        json.getString("parentId", ""),
        1,
        "",
        json.getString("name", ""),
        kind(json.getString("kind", "")),
        start,
        start + Math.round(json.getDouble("durationMs", 0.0) * 1e6),
        attributes(json.getJsonObject("attributes", new JsonObject())),
        List.of(),
        List.of(),
        failed
            ? new SpanRecord.Status(StatusCode.ERROR, json.getString("statusText", ""))
            : SpanRecord.Status.UNSET,
        SpanRecord.Scope.named(json.getString("scope", "")),
        Map.of("service.name", json.getString("service", "")));
  }

  private static SpanKind kind(String name) {
    for (SpanKind kind : SpanKind.values()) {
      if (kind.name().equals(name.toUpperCase(Locale.ROOT))) {
        return kind;
      }
    }
    return SpanKind.INTERNAL;
  }

  private static Map<String, Object> attributes(JsonObject json) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    for (Map.Entry<String, Object> each : json) {
      Object value = each.getValue();
      if (value instanceof JsonArray array) {
        attributes.put(each.getKey(), array.stream().toList());
      } else if (value != null) {
        attributes.put(each.getKey(), value);
      }
    }
    return attributes;
  }

  private JsonObject get(String path) throws IOException {
    return new JsonObject(text(path));
  }

  private String text(String path) throws IOException {
    HttpURLConnection call = (HttpURLConnection) URI.create(desk + path).toURL().openConnection();
    call.setConnectTimeout(TIMEOUT_MILLIS);
    call.setReadTimeout(TIMEOUT_MILLIS);
    try (InputStream in = call.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
