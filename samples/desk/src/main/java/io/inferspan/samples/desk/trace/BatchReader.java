package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.TraceSpans;
import io.inferspan.samples.desk.trace.BatchPart.Neighbour;
import io.inferspan.samples.desk.trace.BatchPart.Phase;
import io.inferspan.samples.desk.trace.BatchPart.Steps;
import io.inferspan.samples.desk.trace.BatchPart.Waits;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads a {@link BatchPart} from the request's phase spans and from the engine's step spans. */
final class BatchReader {

  private static final int MAX_NEIGHBOURS = 200;
  private static final String PREFIX = "llm_d.engine.";

  private final TraceId mine;
  private final List<Phase> phases;
  private final List<EngineStep> steps;
  private final List<EngineStep> own;
  private final Map<TraceId, Totals> neighbours = new HashMap<>();
  private long queuedBehind;
  private long stalls;
  private long stallNanos;
  private long leftOut;
  private long leftOutNanos;
  private long untracedNanos;

  /** The totals of one neighbour over its steps. */
  private static final class Totals {
    long steps;
    long promptTokens;
    long waitNanos;
  }

  private BatchReader(TraceId mine, List<Phase> phases, long call, List<EngineStep> known) {
    this.mine = mine;
    this.phases = phases;
    this.steps = ofOneRank(known, mine, call);
    this.own = steps.stream().filter(step -> step.runs(mine, call)).toList();
  }

  /** Returns one for each call of an engine that reports steps, in time order. */
  static List<BatchPart> read(TraceId mine, TraceTree tree, TraceView.Others others) {
    Map<Long, List<Phase>> calls = new LinkedHashMap<>();
    tree.ordered().stream()
        .filter(node -> SpanTypes.isPhase(node.type()))
        .sorted(Node.BY_START)
        .forEach(
            node ->
                calls
                    .computeIfAbsent(node.span().parentId(), call -> new ArrayList<>())
                    .add(phase(node)));
    if (calls.isEmpty()) {
      return List.of();
    }
    List<EngineStep> known = steps(calls.values(), others);
    return calls.entrySet().stream()
        .map(call -> new BatchReader(mine, call.getValue(), call.getKey(), known).read(others))
        .toList();
  }

  private static Phase phase(Node node) {
    StoredSpan span = node.span();
    return new Phase(
        span.name().substring(PREFIX.length()),
        span.id(),
        span.startNanos(),
        span.endNanos(),
        node.detail().count(BatchAttributes.STEPS),
        node.detail().count(BatchAttributes.TOKENS),
        nanos(node, BatchAttributes.SHARE_MS),
        nanos(node, BatchAttributes.BUSY_MS),
        nanos(node, BatchAttributes.ERROR_BOUND_MS),
        node.detail().number(BatchAttributes.COVERAGE),
        node.detail().text(BatchAttributes.MODEL));
  }

  private static @Nullable Long nanos(Node node, Attribute<Double> attribute) {
    return RequestPath.millis(node, attribute);
  }

  /** Returns all engine steps that overlap the time from the first to the last phase. */
  private static List<EngineStep> steps(Collection<List<Phase>> calls, TraceView.Others others) {
    List<Phase> all = calls.stream().flatMap(List::stream).toList();
    long from = all.stream().mapToLong(Phase::startNanos).min().orElseThrow();
    long to = all.stream().mapToLong(Phase::endNanos).max().orElseThrow();
    String name = BatchSpans.STEP.name(SpanNaming.PROPOSAL);
    List<TraceSpans> traces =
        others
            .having()
            .apply(
                span ->
                    span.startNanos() <= to && span.endNanos() >= from && span.name().equals(name));
    return traces.stream().map(EngineStep::read).filter(Objects::nonNull).toList();
  }

  /**
   * Returns the steps of the rank that has the most steps of the request. One rank suffices,
   * because all ranks run the same steps.
   */
  private static List<EngineStep> ofOneRank(List<EngineStep> known, TraceId mine, long call) {
    Map<String, Long> ranks = new TreeMap<>();
    for (EngineStep step : known) {
      if (step.runs(mine, call)) {
        ranks.merge(step.rank(), 1L, Long::sum);
      }
    }
    String rank =
        ranks.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse("");
    return known.stream()
        .filter(step -> step.rank().equals(rank))
        .sorted(Comparator.comparingLong(EngineStep::number))
        .toList();
  }

  private BatchPart read(TraceView.Others others) {
    if (own.isEmpty()) {
      return new BatchPart(phases, null, List.of());
    }
    Long usualNanos = medianNanos();
    Set<Long> ran = own.stream().map(EngineStep::number).collect(Collectors.toSet());
    for (EngineStep step : steps) {
      if (ran.contains(step.number())) {
        share(step);
        stall(step, usualNanos);
      } else if (step.number() < own.get(0).number()) {
        queue(step);
      } else if (step.number() < own.get(own.size() - 1).number()) {
        leftOut++;
        leftOutNanos += step.busyNanos();
        attributeWait(step, step.busyNanos());
      }
    }
    return new BatchPart(phases, summed(usualNanos), listed(others));
  }

  /**
   * Returns the median GPU time of the request's decode steps without prompts of other requests.
   */
  private @Nullable Long medianNanos() {
    long[] plain =
        own.stream()
            .filter(step -> step.prefills() == 0)
            .mapToLong(EngineStep::busyNanos)
            .sorted()
            .toArray();
    return plain.length == 0 ? null : (Long) plain[plain.length / 2];
  }

  private void share(EngineStep step) {
    step.tokens()
        .forEach(
            (trace, tokens) -> {
              if (!trace.equals(mine)) {
                Totals totals = neighbours.computeIfAbsent(trace, any -> new Totals());
                totals.steps++;
                totals.promptTokens += tokens;
              }
            });
  }

  private void stall(EngineStep step, @Nullable Long usualNanos) {
    if (step.prefills() == 0 || step.tokens().getOrDefault(mine, 0L) > 0) {
      return;
    }
    stalls++;
    if (usualNanos != null) {
      long longer = Math.max(0, step.busyNanos() - usualNanos);
      stallNanos += longer;
      attributeWait(step, longer);
    }
  }

  private void queue(EngineStep step) {
    for (Phase phase : phases) {
      long from = Math.max(phase.startNanos(), step.endNanos() - step.busyNanos());
      long to = Math.min(phase.endNanos(), step.endNanos());
      if (phase.name().equals("queue") && from < to) {
        queuedBehind++;
        step.tokens().forEach((trace, tokens) -> prompt(trace, tokens));
        attributeWait(step, to - from);
      }
    }
  }

  private void prompt(TraceId trace, long tokens) {
    if (tokens > 0) {
      neighbours.computeIfAbsent(trace, any -> new Totals()).promptTokens += tokens;
    }
  }

  /**
   * Divides a wait among the prompts in the step, in proportion to their tokens. If one of the
   * prompts is not traced, counts the whole wait as untraced.
   */
  private void attributeWait(EngineStep step, long nanos) {
    long all = step.tokens().values().stream().mapToLong(Long::longValue).sum();
    if (step.tracedPrefills() < step.prefills()) {
      untracedNanos += nanos;
      return;
    }
    step.tokens()
        .forEach(
            (trace, tokens) -> {
              if (tokens > 0 && !trace.equals(mine)) {
                neighbours.computeIfAbsent(trace, any -> new Totals()).waitNanos +=
                    Math.round(nanos * (tokens / (double) all));
              }
            });
  }

  private Steps summed(@Nullable Long usualNanos) {
    return new Steps(
        phases.stream().mapToLong(phase -> phase.steps() == null ? 0 : phase.steps()).sum(),
        own.size(),
        own.stream().mapToLong(EngineStep::members).max().orElse(0),
        own.stream().mapToLong(step -> step.members() - step.links().size()).max().orElse(0),
        new Waits(
            queuedBehind,
            stalls,
            usualNanos == null ? null : (Long) stallNanos,
            leftOut,
            leftOutNanos,
            untracedNanos));
  }

  private List<Neighbour> listed(TraceView.Others others) {
    return neighbours.entrySet().stream()
        .map(
            entry ->
                new Neighbour(
                    entry.getKey(),
                    others.byId().apply(entry.getKey()),
                    entry.getValue().steps,
                    entry.getValue().promptTokens,
                    entry.getValue().waitNanos))
        .sorted(
            Comparator.comparingLong(Neighbour::waitNanos)
                .thenComparingLong(Neighbour::steps)
                .reversed()
                .thenComparing(neighbour -> neighbour.traceId().toString()))
        .limit(MAX_NEIGHBOURS)
        .toList();
  }
}
