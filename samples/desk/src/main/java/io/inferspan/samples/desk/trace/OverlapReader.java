package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.EngineUse;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.TraceView.Overlap;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests that were in the same engine at the same time: the engine spans of both requests
 * overlap in time, or this request's engine span links to the other trace.
 *
 * <p>This is for engines that do not report their batches.
 */
final class OverlapReader {

  private static final int MAX_OVERLAPS = 200;
  private static final Comparator<Overlap> BEST_FIRST =
      Comparator.comparing((Overlap one) -> !one.linked())
          .thenComparing(Comparator.comparingLong(Overlap::overlapNanos).reversed());

  private OverlapReader() {}

  static List<Overlap> of(
      Summary mine,
      RequestPath path,
      Iterable<Summary> all,
      Function<TraceId, @Nullable Summary> byId) {
    Map<TraceId, Overlap> overlaps = new HashMap<>();
    for (Node engine : path.engines()) {
      for (SpanDetail.Link link : engine.detail().links()) {
        Summary other = link.trace().equals(mine.traceId()) ? null : byId.apply(link.trace());
        if (other != null) {
          add(overlaps, new Overlap(other, overlap(mine, other), engine.span().id(), true));
        }
      }
    }
    for (Summary other : all) {
      if (!other.traceId().equals(mine.traceId())) {
        addOverlapping(overlaps, mine, other);
      }
    }
    return overlaps.values().stream().sorted(BEST_FIRST).limit(MAX_OVERLAPS).toList();
  }

  private static void addOverlapping(Map<TraceId, Overlap> overlaps, Summary mine, Summary other) {
    if (other.engines().isEmpty()) {
      return;
    }
    for (EngineUse use : mine.engines()) {
      long overlap = overlap(use, other);
      if (overlap > 0) {
        add(overlaps, new Overlap(other, overlap, use.spanId(), false));
      }
    }
  }

  /** Adds a request once, even if the two requests overlapped several times. */
  private static void add(Map<TraceId, Overlap> overlaps, Overlap one) {
    overlaps.merge(one.other().traceId(), one, BinaryOperator.minBy(BEST_FIRST));
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
