package io.inferspan.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Finished spans in the order of arrival. Any thread may add spans and wait for them. */
public final class SpanLog {
  private static final int NAMES_SHOWN = 20;

  private final List<SpanRecord> spans = new ArrayList<>();

  /** Creates an empty log. */
  public SpanLog() {}

  public synchronized void add(List<SpanRecord> more) {
    spans.addAll(more);
    notifyAll();
  }

  public synchronized List<SpanRecord> spans() {
    return List.copyOf(spans);
  }

  public synchronized void clear() {
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

  private synchronized List<SpanRecord> await(
      String what,
      int count,
      Duration timeout,
      Predicate<SpanRecord> filter,
      Supplier<String> remarks) {
    long end = System.nanoTime() + timeout.toNanos();
    try {
      List<SpanRecord> found = spans.stream().filter(filter).toList();
      while (found.size() < count) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError(
              "expected %s within %d ms, but %d arrived: %s%s"
                  .formatted(what, timeout.toMillis(), found.size(), names(found), remarks.get()));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
        found = spans.stream().filter(filter).toList();
      }
      return found;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + what, e);
    }
  }

  /** Returns the names of at most twenty spans, for a message. */
  public static String names(List<SpanRecord> spans) {
    List<String> names =
        spans.stream().limit(NAMES_SHOWN).map(span -> Printable.of(span.name())).toList();
    int more = spans.size() - names.size();
    return more == 0 ? names.toString() : names + " and " + more + " more";
  }
}
