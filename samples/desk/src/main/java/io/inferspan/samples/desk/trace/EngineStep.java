package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.samples.desk.otlp.SpanDetail.Link;
import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One step of an engine (one batch that the model computes), on one rank.
 *
 * @param rank the process that reports the step
 * @param members the number of requests in the step, traced or not
 * @param prefills the number of these requests that computed a part of their prompt
 * @param links the links to traced requests
 * @param tokens the prompt tokens computed per trace; 0 for a request that decodes
 */
record EngineStep(
    String rank,
    long number,
    long endNanos,
    long busyNanos,
    long members,
    long prefills,
    List<Link> links,
    Map<TraceId, Long> tokens) {

  /** Reads a step; returns null if the step's own span has not arrived. */
  static @Nullable EngineStep read(TraceSpans trace) {
    Node step = null;
    List<Link> links = new ArrayList<>();
    for (StoredSpan span : trace.spans()) {
      Node node = new Node(span);
      if (SpanTypes.isStep(node.type())) {
        links.addAll(node.detail().links());
        step = node.type() == BatchSpans.STEP ? node : step;
      }
    }
    return step == null ? null : read(step, links);
  }

  private static EngineStep read(Node step, List<Link> links) {
    Map<TraceId, Long> tokens = new HashMap<>();
    for (Link link : links) {
      tokens.merge(link.trace(), promptTokens(link), Long::sum);
    }
    Long busy = RequestPath.millis(step, BatchAttributes.BUSY_MS);
    return new EngineStep(
        step.span().origin().process() + "/" + count(step, KernelAttributes.PROCESS_ID),
        count(step, BatchAttributes.STEP),
        step.span().endNanos(),
        busy == null ? 0 : busy,
        count(step, BatchAttributes.MEMBERS),
        count(step, BatchAttributes.PREFILL_MEMBERS),
        links,
        tokens);
  }

  private static long count(Node step, Attribute<Long> attribute) {
    Long count = step.detail().count(attribute);
    return count == null ? 0 : count;
  }

  private static long promptTokens(Link link) {
    Object tokens = link.attributes().get(BatchAttributes.TOKENS.key().getKey());
    return tokens instanceof Long count ? count : 0;
  }

  /** Returns the number of traced requests that computed a part of their prompt. */
  long tracedPrefills() {
    return links.stream().filter(link -> promptTokens(link) > 0).count();
  }

  /** Returns whether the engine call {@code call} of this trace ran in the step. */
  boolean runs(TraceId trace, long call) {
    return tokens.containsKey(trace)
        && links.stream().anyMatch(link -> link.spanId() == call && link.trace().equals(trace));
  }
}
