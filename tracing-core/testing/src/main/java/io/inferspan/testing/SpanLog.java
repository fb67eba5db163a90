package io.inferspan.testing;

import io.inferspan.testing.server.Arrivals;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Finished spans in the order of arrival. Any thread may add spans and wait for them. */
public final class SpanLog {
  private static final int NAMES_SHOWN = 20;

  private final Arrivals<SpanRecord> spans = new Arrivals<>(Integer.MAX_VALUE);

  /** Creates an empty log. */
  public SpanLog() {}

  public void add(List<SpanRecord> more) {
    spans.add(more);
  }

  public List<SpanRecord> spans() {
    return spans.list();
  }

  public void clear() {
    spans.clear();
  }

  /** Waits for {@code count} spans; the failure message lists the spans and {@code remarks}. */
  public List<SpanRecord> await(int count, Duration timeout, Supplier<String> remarks) {
    return await(count + " spans", count, timeout, span -> true, remarks);
  }

  /** Waits for {@code count} spans of one trace. */
  public List<SpanRecord> awaitTrace(
      String traceId, int count, Duration timeout, Supplier<String> remarks) {
    String what = count + " spans of trace " + traceId;
    return await(what, count, timeout, span -> span.traceId().equals(traceId), remarks);
  }

  private List<SpanRecord> await(
      String what,
      int count,
      Duration timeout,
      Predicate<SpanRecord> filter,
      Supplier<String> remarks) {
    spans.await(
        () -> found(filter).size() >= count,
        timeout,
        () -> {
          List<SpanRecord> found = found(filter);
          return "expected %s within %d ms, but %d arrived: %s%s"
              .formatted(what, timeout.toMillis(), found.size(), names(found), remarks.get());
        });
    return found(filter);
  }

  private List<SpanRecord> found(Predicate<SpanRecord> filter) {
    return spans.list().stream().filter(filter).toList();
  }

  /** Returns the names of at most twenty spans, for a message. */
  public static String names(List<SpanRecord> spans) {
    List<String> names =
        spans.stream().limit(NAMES_SHOWN).map(span -> Printable.of(span.name())).toList();
    int more = spans.size() - names.size();
    return more == 0 ? names.toString() : names + " and " + more + " more";
  }
}
