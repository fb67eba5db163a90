package io.inferspan.samples.quickstart;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import io.inferspan.testing.SpanTree.Node;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the terminal shows of the trace. */
final class Report {

  private static final Set<String> SHOWN =
      Stream.<Attribute<?>>of(
              EppAttributes.DECISION,
              EppAttributes.DECISION_REASON,
              EppAttributes.CACHE_HIT_RATIO,
              EppAttributes.PD_THRESHOLD,
              EppAttributes.NON_CACHED_BYTES,
              PdAttributes.TRUE_TTFT_MS,
              PdAttributes.TOTAL_DURATION_MS,
              PdAttributes.COORDINATOR_OVERHEAD_MS,
              GenAiAttributes.USAGE_PROMPT_TOKENS,
              GenAiAttributes.USAGE_COMPLETION_TOKENS,
              GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN)
          .map(attribute -> attribute.key().getKey())
          .collect(Collectors.toSet());

  private final Node root;
  private final SpanTree tree;

  /** Puts the spans together; they must form one tree. */
  Report(List<SpanRecord> spans) {
    tree = SpanTree.of(spans);
    if (tree.roots().size() != 1) {
      throw new IllegalStateException(
          "%d spans arrived, which make %d trees instead of one"
              .formatted(spans.size(), tree.roots().size()));
    }
    root = tree.roots().get(0);
  }

  String traceId() {
    return root.span().traceId();
  }

  String tree() {
    return tree.render(SpanTree.Options.DEFAULT.withAttributes(SHOWN::contains));
  }

  /** Names the span that most of the time went into, its children's time not counted. */
  String whereTheTimeWent() {
    Node slowest = slowest(root);
    double millis = selfNanos(slowest) / 1e6;
    double share = 100.0 * selfNanos(slowest) / Math.max(1, root.span().duration().toNanos());
    return String.format(
        Locale.ROOT,
        "Most of the time, %.1f ms or %.0f %%, went into %s on %s.",
        millis,
        share,
        slowest.span().name(),
        slowest.span().serviceName());
  }

  private static Node slowest(Node node) {
    Node slowest = node;
    for (Node child : node.children()) {
      Node candidate = slowest(child);
      slowest = selfNanos(candidate) > selfNanos(slowest) ? candidate : slowest;
    }
    return slowest;
  }

  /** The span's own time: what no child covers, where children may overlap or outlast it. */
  private static long selfNanos(Node node) {
    long end = node.span().endEpochNanos();
    long covered = node.span().startEpochNanos();
    long self = 0;
    for (Node child : node.children()) {
      self += Math.max(0, Math.min(end, child.span().startEpochNanos()) - covered);
      covered = Math.max(covered, child.span().endEpochNanos());
    }
    return self + Math.max(0, end - covered);
  }
}
