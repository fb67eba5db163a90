package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.EngineUse;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.TraceView.Sharer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests that were in the same engine at the same time.
 *
 * <p>This is for engines that do not report their batches: two spans of one engine overlap in time,
 * or an engine's span links to the other.
 */
final class Batch {

  private static final int MAX_SHARERS = 200;
  private static final Comparator<Sharer> BEST_FIRST =
      Comparator.comparing((Sharer sharer) -> !sharer.linked())
          .thenComparing(Comparator.comparingLong(Sharer::overlapNanos).reversed());

  private Batch() {}

  static List<Sharer> of(
      Summary mine,
      RequestPath way,
      Iterable<Summary> all,
      Function<TraceId, @Nullable Summary> byId) {
    Map<TraceId, Sharer> sharers = new HashMap<>();
    for (Node engine : way.engines()) {
      for (SpanDetail.Link link : engine.detail().links()) {
        Summary other = link.trace().equals(mine.traceId()) ? null : byId.apply(link.trace());
        if (other != null) {
          add(sharers, new Sharer(other, overlap(mine, other), engine.span().id(), true));
        }
      }
    }
    for (Summary other : all) {
      if (!other.traceId().equals(mine.traceId())) {
        addOverlapping(sharers, mine, other);
      }
    }
    return sharers.values().stream().sorted(BEST_FIRST).limit(MAX_SHARERS).toList();
  }

  private static void addOverlapping(Map<TraceId, Sharer> sharers, Summary mine, Summary other) {
    if (other.engines().isEmpty()) {
      return;
    }
    for (EngineUse use : mine.engines()) {
      long overlap = overlap(use, other);
      if (overlap > 0) {
        add(sharers, new Sharer(other, overlap, use.spanId(), false));
      }
    }
  }

  /** Adds a request once, even if the two requests overlapped several times. */
  private static void add(Map<TraceId, Sharer> sharers, Sharer sharer) {
    sharers.merge(sharer.other().traceId(), sharer, BinaryOperator.minBy(BEST_FIRST));
  }

  private static long overlap(Summary mine, Summary other) {
    return mine.engines().stream().mapToLong(use -> overlap(use, other)).max().orElse(0);
  }

  private static long overlap(EngineUse use, Summary other) {
    long longest = 0;
    for (EngineUse theirs : other.engines()) {
      if (theirs.engine().equals(use.engine())) {
        long from = Math.max(use.startNanos(), theirs.startNanos());
        long to = Math.min(use.endNanos(), theirs.endNanos());
        longest = Math.max(longest, to - from);
      }
    }
    return longest;
  }
}
