package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Summary;
import io.inferspan.samples.desk.store.TraceSpans;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All that is shown of one trace; null for what it tells nothing of. */
public record TraceView(
    Summary summary,
    TraceTree tree,
    long cut,
    @Nullable Anatomy anatomy,
    @Nullable PdTimeline pd,
    List<Sharer> batch,
    @Nullable Flame flame) {

  /**
   * Another request that was on the same engine at the same time.
   *
   * @param linked whether a link says so, and not only the time
   */
  public record Sharer(Summary other, long overlapNanos, long spanId, boolean linked) {}

  /** Where to look for the requests beside this one. */
  public record Others(
      Iterable<Summary> all, Function<TraceId, @Nullable Summary> byId, long seq) {}

  /** Reads a trace; what is listed of it may be older than its spans. */
  public static TraceView read(TraceSpans trace, Others others) {
    TraceTree tree = TraceTree.of(trace.spans());
    RequestWay way = new RequestWay(tree);
    Summary summary = SummaryReader.read(trace, tree, way).numbered(others.seq);
    return new TraceView(
        summary,
        tree,
        trace.cut(),
        AnatomyReader.read(way),
        PdTimeline.read(way, summary.decision()),
        Batch.of(summary, way, others.all, others.byId),
        Flame.read(tree));
  }
}
