package io.inferspan.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Finished spans in the order they came, for any thread to add to and to wait on. */
public final class SpanLog {
  private static final int NAMES_SHOWN = 20;

  private final List<SpanRecord> spans = new ArrayList<>();

  /** No spans yet. */
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

  /** Waits for {@code count} spans; fails with what came instead, followed by {@code remarks}. */
  public List<SpanRecord> await(int count, Duration timeout, Supplier<String> remarks) {
    return await(count, timeout, new Wanted("spans", span -> true), remarks);
  }

  /** Waits for {@code count} spans of one trace. */
  public List<SpanRecord> awaitTrace(
      String traceId, int count, Duration timeout, Supplier<String> remarks) {
    Wanted wanted = new Wanted("spans of trace " + traceId, s -> s.traceId().equals(traceId));
    return await(count, timeout, wanted, remarks);
  }

  private record Wanted(String what, Predicate<SpanRecord> test) {}

  private synchronized List<SpanRecord> await(
      int count, Duration timeout, Wanted wanted, Supplier<String> remarks) {
    long end = System.nanoTime() + timeout.toNanos();
    try {
      Matching matching = new Matching(wanted);
      while (matching.upToDate().size() < count) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError(complaint(count, timeout, matching, remarks));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return List.copyOf(matching.found);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + count + " " + wanted.what, e);
    }
  }

  private String complaint(
      int count, Duration timeout, Matching matching, Supplier<String> remarks) {
    return "expected %d %s within %d ms, but %d arrived: %s%s"
        .formatted(
            count,
            matching.wanted.what,
            TimeUnit.NANOSECONDS.toMillis(timeout.toNanos()),
            matching.found.size(),
            names(matching.found),
            remarks.get());
  }

  /** The spans' names for a message, cut off when there are many. */
  public static String names(List<SpanRecord> spans) {
    List<String> names =
        spans.stream().limit(NAMES_SHOWN).map(span -> Printable.of(span.name())).toList();
    int more = spans.size() - names.size();
    return more == 0 ? names.toString() : names + " and " + more + " more";
  }

  /** The wanted spans found so far; looks at each span once, however often it is woken. */
  private final class Matching {
    private final Wanted wanted;
    private final List<SpanRecord> found = new ArrayList<>();
    private int seen;

    Matching(Wanted wanted) {
      this.wanted = wanted;
    }

    List<SpanRecord> upToDate() {
      if (seen > spans.size()) {
        // The log was cleared while we waited.
        seen = 0;
        found.clear();
      }
      for (; seen < spans.size(); seen++) {
        if (wanted.test.test(spans.get(seen))) {
          found.add(spans.get(seen));
        }
      }
      return found;
    }
  }
}
