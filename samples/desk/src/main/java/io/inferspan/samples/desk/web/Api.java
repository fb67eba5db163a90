package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.History;
import io.inferspan.samples.desk.store.Latency;
import io.inferspan.samples.desk.store.Query;
import io.inferspan.samples.desk.store.Sample;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.samples.desk.trace.RecordedStacks;
import io.inferspan.samples.desk.trace.TraceView;
import io.inferspan.samples.desk.web.Parameters.WrongParameterException;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The page's API. Calls may take milliseconds: do not call them on an event loop. */
final class Api {

  private static final int DEFAULT_HISTORY = 200;
  private static final double NANOS_PER_MILLI = 1e6;

  /**
   * The maximum number of engine steps to read for one trace, which takes about ten milliseconds.
   */
  private static final int MAX_STEPS = 10_000;

  /**
   * The maximum time for which a call first summarises new spans; the live feed summarises the
   * rest.
   */
  private static final long SUMMARISE_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final SpanStore store;
  private final RecordedStacks stacks;
  private final Drops drops;
  private final Timelines timelines;
  private final long startedNanos = System.nanoTime();

  Api(SpanStore store, RecordedStacks stacks, Timelines timelines, Drops drops) {
    this.store = store;
    this.stacks = stacks;
    this.drops = drops;
    this.timelines = timelines;
  }

  Buffer requests(Parameters parameters) throws WrongParameterException {
    Query query = parameters.query();
    long begin = System.nanoTime();
    store.summarise(SUMMARISE_LIMIT_NANOS);
    Query.Result result = query.in(store.list());
    double tookMillis = (System.nanoTime() - begin) / NANOS_PER_MILLI;
    return Json.object(
        json ->
            json.putList("requests", result.found(), SummaryJson::write)
                .put("matched", (Long) result.matched())
                .put("tookMs", (Double) tookMillis));
  }

  /** Returns a trace, or null if the store does not have it. */
  @Nullable Buffer trace(String id) {
    TraceId wanted = TraceId.parse(id);
    TraceSpans spans = wanted == null ? null : store.find(wanted);
    if (wanted == null || spans == null) {
      return null;
    }
    return TraceJson.of(view(spans), stacks.of(wanted), timelines.get(wanted) != null);
  }

  private TraceView view(TraceSpans spans) {
    Summary listed = store.summary(spans.id());
    return TraceView.read(
        spans,
        new TraceView.Others(
            store.list().newestFirst(),
            store::summary,
            wanted -> store.having(wanted, MAX_STEPS),
            listed == null ? 0 : listed.seq()));
  }

  /**
   * Returns an explanation as text for a terminal, or null if no request has this trace id or
   * request id.
   */
  @Nullable Buffer explain(Parameters parameters) throws WrongParameterException {
    String id = parameters.id();
    store.summarise(SUMMARISE_LIMIT_NANOS);
    TraceId trace = TraceId.parse(id);
    if (trace == null) {
      for (Summary summary : store.list().newestFirst()) {
        if (id.equals(summary.requestId())) {
          trace = summary.traceId();
          break;
        }
      }
    }
    TraceSpans spans = trace == null ? null : store.find(trace);
    return spans == null ? null : Buffer.buffer(Explanation.of(view(spans)));
  }

  Buffer history(Parameters parameters) throws WrongParameterException {
    int limit = parameters.limit(DEFAULT_HISTORY);
    String pod = parameters.pod();
    long untilNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    long sinceNanos = (long) (parameters.sinceMillis() * NANOS_PER_MILLI);
    store.summarise(SUMMARISE_LIMIT_NANOS);
    History history = History.of(store.list().samples(), sinceNanos, untilNanos, pod);
    List<Summary> decided = new ArrayList<>();
    for (Summary summary : store.list().newestFirst()) {
      if (decided.size() == limit) {
        break;
      }
      if (summary.decision() != null
          && summary.head().startNanos() >= sinceNanos
          && (pod.isEmpty() || Sample.of(summary).ranOn(pod))) {
        decided.add(summary);
      }
    }
    return Json.object(
        json ->
            json.putList("slices", history.slices(), SummaryJson::writeSlice)
                .putTexts("pods", history.pods())
                .putList("decisions", decided, SummaryJson::writeDecision));
  }

  Buffer latency(Parameters parameters) throws WrongParameterException {
    Latency.By by = parameters.groupBy();
    long sinceNanos = (long) (parameters.sinceMillis() * NANOS_PER_MILLI);
    store.summarise(SUMMARISE_LIMIT_NANOS);
    List<Latency.Group> groups = Latency.of(store.list().samples(), by, sinceNanos);
    return Json.object(json -> json.putList("groups", groups, SummaryJson::writeGroup));
  }

  Buffer stats() {
    SpanStore.Size size = store.size();
    double uptimeMillis = (System.nanoTime() - startedNanos) / NANOS_PER_MILLI;
    return Json.object(
        json ->
            json.put("spans", (Long) size.spans())
                .put("traces", (Long) size.traces())
                .put("received", (Long) size.received())
                .putMap("dropped", drops.counted())
                .put("bytes", (Long) size.bytes())
                .put("maxSpans", (Long) size.maxSpans())
                .put("uptimeMs", (Double) uptimeMillis));
  }

  static Buffer error(String sentence) {
    return Json.object(json -> json.put("error", sentence));
  }
}
