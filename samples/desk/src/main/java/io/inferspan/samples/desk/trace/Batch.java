package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.SpanDetail;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.EngineUse;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.trace.TraceView.Sharer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Who was on the same engine at the same time.
 *
 * <p>An engine that batches continuously tells nobody whom it computes together. That two requests
 * were inside one engine at once is what spans can tell; where an engine links its spans, that is
 * taken too.
 */
final class Batch {

  private static final int MAX_SHARERS = 200;

  private Batch() {}

  static List<Sharer> of(
      Summary mine,
      RequestWay way,
      Iterable<Summary> all,
      Function<TraceId, @Nullable Summary> byId) {
    List<Sharer> sharers = new ArrayList<>();
    for (Node engine : way.engines()) {
      for (SpanDetail.Link link : engine.detail().links()) {
        Summary other = link.trace().equals(mine.traceId()) ? null : byId.apply(link.trace());
        if (other != null) {
          sharers.add(new Sharer(other, overlap(mine, other), engine.span().id(), true));
        }
      }
    }
    for (Summary other : all) {
      if (!other.traceId().equals(mine.traceId())) {
        addOverlapping(sharers, mine, other);
      }
    }
    sharers.sort(
        Comparator.comparing((Sharer sharer) -> !sharer.linked())
            .thenComparing(Comparator.comparingLong(Sharer::overlapNanos).reversed()));
    return List.copyOf(sharers.subList(0, Math.min(MAX_SHARERS, sharers.size())));
  }

  private static void addOverlapping(List<Sharer> sharers, Summary mine, Summary other) {
    if (other.engines().isEmpty()) {
      return;
    }
    for (EngineUse use : mine.engines()) {
      long overlap = overlap(use, other);
      if (overlap > 0) {
        sharers.add(new Sharer(other, overlap, use.spanId(), false));
      }
    }
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
