package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.Origin;
import io.inferspan.samples.desk.otlp.Received;
import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Bounds;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.RecordedStacks;
import io.inferspan.samples.desk.web.Parameters.WrongParameterException;
import io.vertx.core.MultiMap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs searches on a separate store, so that the JVM compiles the search before a user needs it.
 */
final class WarmUp {

  private static final int TRACES = 1_000;
  private static final int ROUNDS = 10;
  private static final List<String> TEXTS = List.of("", "model", "request-1", "abcd", "nothing");

  private WarmUp() {}

  static void run() throws WrongParameterException {
    Drops drops = new Drops();
    SpanStore store =
        new SpanStore(Bounds.of(TRACES, Long.MAX_VALUE), drops, trace -> summary(trace.id()));
    List<Received> spans = new ArrayList<>();
    for (int i = 1; i <= TRACES; i++) {
      spans.add(new Received(new TraceId(i, i), span(i)));
    }
    store.add(spans);
    store.summarise(TimeUnit.SECONDS.toNanos(1));
    Api api = new Api(store, new RecordedStacks(null), new Timelines(drops), drops);
    for (int round = 0; round < ROUNDS; round++) {
      for (String text : TEXTS) {
        api.requests(new Parameters(MultiMap.caseInsensitiveMultiMap().add("q", text)));
      }
    }
  }

  private static StoredSpan span(long id) {
    return new StoredSpan(
        id,
        0,
        new StoredSpan.Times(0, 1),
        "warm-up",
        new Origin("warm-up", "", ""),
        new StoredSpan.Mark(0, false),
        new byte[0]);
  }

  /** Creates varied summaries: the JVM optimises for the types and branches that it has seen. */
  private static Summary summary(TraceId id) {
    boolean failed = id.low() % 2 == 0;
    return new Summary(
        0,
        id,
        new Summary.Head("warm-up", "gateway", List.of("gateway", "engine"), 0, 1_000_000),
        new Summary.Outcome(
            failed ? Status.ERROR : Status.OK, false, failed ? "reset" : null, 200L, 0.5, 1L),
        failed ? null : "model",
        "request-" + id.low(),
        null,
        failed ? null : (Double) 0.5,
        new Summary.Counts(1, failed ? 1 : 0, 0, 0),
        List.of(),
        new Summary.Why("why", 0));
  }
}
