package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The data of one trace that the page shows. Data that the trace does not contain is null. */
public record TraceView(
    Summary summary,
    TraceTree tree,
    long cut,
    @Nullable Anatomy anatomy,
    @Nullable PdTimeline pd,
    List<BatchPart> parts,
    List<Overlap> overlaps,
    @Nullable Flame flame) {

  /**
   * Another request that was on the same engine at the same time.
   *
   * @param linked whether a span link connects the two, not only an overlap in time
   */
  public record Overlap(Summary other, long overlapNanos, long spanId, boolean linked) {}

  /**
   * Access to the other traces in the store.
   *
   * @param having finds the traces with a matching span
   * @param seq the sequence number for this trace's summary
   */
  public record Others(
      Iterable<Summary> all,
      Function<TraceId, @Nullable Summary> byId,
      Function<Predicate<StoredSpan>, List<TraceSpans>> having,
      long seq) {}

  /** Reads a trace. */
  public static TraceView read(TraceSpans trace, Others others) {
    TraceTree tree = TraceTree.of(trace.spans());
    RequestPath path = new RequestPath(tree);
    Summary summary = SummaryReader.read(trace, tree, path).numbered(others.seq);
    return new TraceView(
        summary,
        tree,
        trace.cut(),
        AnatomyReader.read(path),
        PdTimeline.read(path, summary.decision()),
        BatchReader.read(trace.id(), tree, others),
        OverlapReader.of(summary, path, others.all, others.byId),
        Flame.read(tree));
  }
}
