package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Query;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.samples.desk.trace.TraceView;
import io.inferspan.samples.desk.web.Parameters.WrongParameterException;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Answers the page's questions; it may take its time, so not on an event loop. */
final class Api {

  private static final int USUAL_HISTORY = 200;
  private static final double NANOS_PER_MILLI = 1e6;

  /** An answer may lack what came last if much came at once; the live feed brings it. */
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final SpanStore store;
  private final Drops drops;
  private final long startedNanos = System.nanoTime();

  Api(SpanStore store, Drops drops) {
    this.store = store;
    this.drops = drops;
  }

  Buffer requests(Parameters parameters) throws WrongParameterException {
    Query query = parameters.query();
    long begin = System.nanoTime();
    store.settle(PATIENCE_NANOS);
    Query.Result result = query.in(store.list());
    double tookMillis = (System.nanoTime() - begin) / NANOS_PER_MILLI;
    return Json.object(
        json ->
            json.putList("requests", result.found(), SummaryJson::write)
                .put("matched", (Long) result.matched())
                .put("tookMs", (Double) tookMillis));
  }

  /** Null where there is no such trace. */
  @Nullable Buffer trace(String id) {
    TraceId wanted = TraceId.parse(id);
    TraceSpans spans = wanted == null ? null : store.find(wanted);
    if (spans == null) {
      return null;
    }
    Summary listed = store.summary(spans.id());
    return TraceJson.of(
        TraceView.read(
            spans,
            new TraceView.Others(
                store.list().newestFirst(), store::summary, listed == null ? 0 : listed.seq())));
  }

  Buffer history(Parameters parameters) throws WrongParameterException {
    int limit = parameters.limit(USUAL_HISTORY);
    store.settle(PATIENCE_NANOS);
    List<Summary> decided = new ArrayList<>();
    for (Summary summary : store.list().newestFirst()) {
      if (decided.size() == limit) {
        break;
      }
      if (summary.decision() != null) {
        decided.add(summary);
      }
    }
    return Json.object(json -> json.putList("decisions", decided, SummaryJson::writeDecision));
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
