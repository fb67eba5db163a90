package io.inferspan.samples.demo;

import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints a trace on a terminal: the most important spans, and the number of omitted ones. */
final class Report {

  private static final Set<String> SHOWN_ATTRIBUTES =
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

  /** Spans of the scheduler that contain no decision. */
  private static final Set<String> SCHEDULING =
      Stream.of(EppSpans.PROFILE_RUN, EppSpans.FILTER, EppSpans.SCORING, EppSpans.PICKER)
          .map(type -> type.name(SpanNaming.PROPOSAL))
          .collect(Collectors.toSet());

  private static final String SCORER = name(EppSpans.SCORER);
  private static final String PREFIX_SCORER = name(EppSpans.SCORER_PREFIX_CACHE);

  /** The profile handler's spans. Only the span with a reason, the P/D decision, is shown. */
  private static final String HANDLER = name(EppSpans.PROFILE_HANDLER);

  private static final String REASON = EppAttributes.DECISION_REASON.key().getKey();
  private static final Set<String> KERNEL =
      Set.of("cuda.", "nccl.", "syscall.", "sched.", "tcp.", "ckp.");

  private static final String DEVICE = "cuda.";

  /** The maximum number of kernel and device spans below one span; device spans take precedence. */
  private static final int SHOWN_KERNEL_SPANS = 3;

  private static final Comparator<SpanRecord> MOST_IMPORTANT =
      Comparator.comparing((SpanRecord span) -> !span.name().startsWith(DEVICE))
          .thenComparing(Report::timeNanos, Comparator.reverseOrder());

  private final Trace trace;

  Report(Trace trace) {
    this.trace = trace;
  }

  private static String name(SpanType type) {
    return type.name(SpanNaming.PROPOSAL);
  }

  /** Returns the tree; each line ends with a newline. */
  String tree() {
    List<SpanRecord> shown = withoutScheduling(trace.spans());
    Set<SpanRecord> kernel = shownKernelSpans(shown);
    shown = shown.stream().filter(span -> !isKernel(span) || kernel.contains(span)).toList();
    String tree =
        SpanTree.of(shown)
            .render(SpanTree.Options.DEFAULT.withAttributes(SHOWN_ATTRIBUTES::contains));
    int omitted = trace.spans().size() - shown.size();
    return omitted == 0 ? tree : tree + "(" + omitted + " more spans are only on the trace desk)\n";
  }

  /** Returns the desk's explanation; empty if it has none. */
  String why() {
    return trace.why();
  }

  /**
   * Removes the scheduler's inner spans, and attaches their children to the nearest remaining
   * parent.
   */
  private static List<SpanRecord> withoutScheduling(List<SpanRecord> spans) {
    Map<String, String> newParents = new HashMap<>();
    for (SpanRecord span : spans) {
      if (isScheduling(span)) {
        newParents.put(span.spanId(), span.parentSpanId());
      }
    }
    List<SpanRecord> kept = new ArrayList<>();
    for (SpanRecord span : spans) {
      if (!isScheduling(span)) {
        String parent = span.parentSpanId();
        while (newParents.containsKey(parent)) {
          parent = newParents.getOrDefault(parent, "");
        }
        kept.add(withParent(span, parent));
      }
    }
    return kept;
  }

  private static boolean isScheduling(SpanRecord span) {
    String name = span.name();
    boolean scorer = name.startsWith(SCORER) && !name.equals(PREFIX_SCORER);
    boolean step = name.equals(HANDLER) && span.attribute(REASON) == null;
    return scorer || step || SCHEDULING.contains(name);
  }

  private static SpanRecord withParent(SpanRecord span, String parent) {
    return parent.equals(span.parentSpanId())
        ? span
        : new SpanRecord(
            span.traceId(),
            span.spanId(),
            parent,
            span.traceFlags(),
            span.traceState(),
            span.name(),
            span.kind(),
            span.startEpochNanos(),
            span.endEpochNanos(),
            span.attributes(),
            span.events(),
            span.links(),
            span.status(),
            span.scope(),
            span.resource());
  }

  private static Set<SpanRecord> shownKernelSpans(List<SpanRecord> spans) {
    Set<SpanRecord> shown = new HashSet<>();
    spans.stream()
        .filter(Report::isKernel)
        .collect(Collectors.groupingBy(SpanRecord::parentSpanId))
        .values()
        .forEach(
            siblings ->
                siblings.stream()
                    .sorted(MOST_IMPORTANT)
                    .limit(SHOWN_KERNEL_SPANS)
                    .forEach(shown::add));
    return shown;
  }

  /**
   * Returns the total duration of the calls that a span stands for; for a single call, the span's
   * own duration.
   */
  private static long timeNanos(SpanRecord span) {
    return span.attribute(KernelAttributes.DURATION_SUM_NS.key().getKey()) instanceof Number sum
        ? sum.longValue()
        : span.duration().toNanos();
  }

  private static boolean isKernel(SpanRecord span) {
    return KERNEL.stream().anyMatch(span.name()::startsWith);
  }
}
