package io.inferspan.kvcache;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.KvBatchObserver;
import io.inferspan.kvcache.index.KvBatchObserver.Observation;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Records the spans of a KV-cache index.
 *
 * <p>{@link #traced} covers a {@link BlockIndex}. For any other index, start the spans one by one,
 * record the results, and close them. Each span starts under the given context, never under the
 * thread's current one.
 */
public final class KvCacheTracing {

  /** The maximum number of pods named on a span; counts include all pods. */
  public static final int MAX_PODS_NAMED = 32;

  private static final String NO_ANSWER_TYPE = "index_unavailable";
  private static final String NO_ANSWER = "the index could not answer";

  private final Telemetry telemetry;
  private final Telemetry engineTelemetry;

  private KvCacheTracing(Telemetry telemetry, Telemetry engineTelemetry) {
    this.telemetry = telemetry;
    this.engineTelemetry = engineTelemetry;
  }

  /** Creates an instance that records spans for requests and for engines' events. */
  public static KvCacheTracing create(Telemetry telemetry) {
    return new KvCacheTracing(telemetry, telemetry);
  }

  /**
   * Returns an instance that records no spans for engines' events. Each batch of events, and each
   * add or evict outside a request, would otherwise be a separate trace.
   */
  public KvCacheTracing withoutEvents() {
    return new KvCacheTracing(telemetry, Telemetry.using(OpenTelemetry.noop()));
  }

  /** Wraps an index in a span for each lookup, add and evict; wrap an index only once. */
  public BlockIndex traced(BlockIndex index) {
    return index instanceof TracedBlockIndex ? index : new TracedBlockIndex(index, this);
  }

  /**
   * Starts the span of scoring pods for a prompt.
   *
   * @param pods the pods to score; empty for all
   */
  public OperationSpan scores(String model, int tokens, Set<String> pods, Context parent) {
    OperationSpan span =
        telemetry
            .span(KvCacheSpans.GET_SCORES, parent)
            .set(GenAiAttributes.REQUEST_MODEL, model)
            .set(KvCacheAttributes.TOKEN_COUNT, tokens)
            .start();
    if (span.recording() && !pods.isEmpty()) {
      span.set(KvCacheAttributes.POD_COUNT, pods.size()).set(KvCacheAttributes.PODS, named(pods));
    }
    return span;
  }

  /**
   * Records the number of whole blocks of the prompt. If it is 0, close the span without a lookup.
   */
  public void keyed(OperationSpan scores, int keys) {
    scores.set(KvCacheAttributes.BLOCK_KEYS, keys);
  }

  /**
   * Records the result for a prompt of at least one block.
   *
   * @param considered the number of pods that the lookup considered: the size of its filter, or the
   *     number of pods that the index knows; -1 if unknown, which omits {@code hit_ratio}
   */
  public void found(OperationSpan scores, BlockHits hits, int considered) {
    if (!scores.recording()) {
      return;
    }
    if (hits.failure() != null) {
      unanswered(scores);
      return;
    }
    FoundBlocks found = FoundBlocks.in(hits);
    if (considered >= 0) {
      // A pod may have been cleared since the lookup.
      int pods = Math.max(considered, found.pods().size());
      scores
          .set(KvCacheAttributes.POD_COUNT, pods)
          .set(KvCacheAttributes.HIT_RATIO, ratio(found.pods().size(), pods));
    }
    scores
        .set(KvCacheAttributes.TOTAL_BLOCKS_AVAILABLE, found.entries())
        .set(KvCacheAttributes.BLOCKS_FOUND, found.blocks())
        .set(KvCacheAttributes.BLOCK_HIT_RATIO, ratio(found.blocks(), hits.size()))
        .set(KvCacheAttributes.PODS_WITH_HITS_COUNT, found.pods().size())
        .set(KvCacheAttributes.PODS_WITH_HITS, named(found.pods()));
  }

  /**
   * Starts the span of reading the index; {@code pods} is the size of its filter, 0 for all pods.
   */
  public OperationSpan lookup(int keys, int pods, Context parent) {
    return telemetry
        .span(KvCacheSpans.LOOKUP, parent)
        .set(KvCacheAttributes.LOOKUP_BLOCKS, keys)
        .set(KvCacheAttributes.LOOKUP_POD_FILTER, pods)
        .start();
  }

  /** Records the number of blocks that have a holder. */
  public void lookedUp(OperationSpan lookup, int blocks) {
    lookup
        .set(KvCacheAttributes.LOOKUP_HIT, blocks > 0)
        .set(KvCacheAttributes.LOOKUP_FOUND, blocks);
  }

  /**
   * Records that the index could not answer. Does not record the reason, because it may contain any
   * text.
   */
  public void unanswered(OperationSpan span) {
    span.fail(NO_ANSWER_TYPE, NO_ANSWER);
  }

  /** Starts the span of turning lookup results into scores. */
  public OperationSpan compute(String algorithm, int keys, Context parent) {
    return telemetry
        .span(KvCacheSpans.COMPUTE, parent)
        .set(KvCacheAttributes.ALGORITHM, algorithm)
        .set(KvCacheAttributes.SCORER_KEYS, keys)
        .start();
  }

  /**
   * Records the scores.
   *
   * @param pods the number of pods with a score
   * @param hits the lookup result that was scored
   */
  public void computed(OperationSpan compute, int pods, double max, double mean, BlockHits hits) {
    if (compute.recording()) {
      compute
          .set(KvCacheAttributes.PODS_SCORED, pods)
          .set(KvCacheAttributes.SCORE_MAX, max)
          .set(KvCacheAttributes.SCORE_AVG, mean)
          .set(KvCacheAttributes.LONGEST_CHAIN, FoundBlocks.longestChain(hits));
    }
  }

  /** Starts the span of adding blocks, under a request's span or as a root. */
  public OperationSpan add(
      int engineKeys, int requestKeys, List<PodEntry> holders, Context context) {
    OperationSpan span =
        telemetry(context)
            .span(KvCacheSpans.ADD, context)
            .set(KvCacheAttributes.ADD_ENGINE_KEYS, engineKeys)
            .set(KvCacheAttributes.ADD_REQUEST_KEYS, requestKeys)
            .set(KvCacheAttributes.ADD_POD_ENTRIES, holders.size())
            .start();
    if (span.recording()) {
      span.set(KvCacheAttributes.ADD_DEVICE_TIERS, tiers(holders));
    }
    return span;
  }

  /** Starts the span of evicting blocks, under a request's span or as a root. */
  public OperationSpan evict(KeyType type, int keys, List<PodEntry> holders, Context context) {
    OperationSpan span =
        telemetry(context)
            .span(KvCacheSpans.EVICT, context)
            .set(KvCacheAttributes.EVICT_KEY_TYPE, nameOf(type))
            .set(KvCacheAttributes.EVICT_KEYS, keys)
            .set(KvCacheAttributes.EVICT_POD_ENTRIES, holders.size())
            .start();
    if (span.recording()) {
      span.set(KvCacheAttributes.EVICT_DEVICE_TIERS, tiers(holders));
    }
    return span;
  }

  /** Starts the root span of a batch of events; its adds and evicts are its children. */
  public OperationSpan events(KvBatchObserver.Batch batch) {
    return engineTelemetry
        .span(KvCacheSpans.EVENTS, Context.root())
        .set(KvCacheAttributes.EVENTS_TOPIC, batch.topic())
        .set(KvCacheAttributes.EVENTS_SEQUENCE, batch.sequence())
        .set(KvCacheAttributes.EVENTS_BYTES, batch.bytes())
        .set(KvCacheAttributes.EVENTS_SOURCE, batch.endpoint())
        .set(KvCacheAttributes.EVENTS_POD, batch.pod())
        .set(KvCacheAttributes.EVENTS_COUNT, batch.events())
        .start();
  }

  /** Returns an observer that records batches of events as they enter an index. */
  public KvBatchObserver batches() {
    return batch -> observation(events(batch));
  }

  @SuppressWarnings("ReferenceEquality") // without tracing the context is the root
  private static Observation observation(OperationSpan span) {
    return span.context() == Context.root()
        ? Observation.NONE
        : new Observation(span.context(), span::close);
  }

  /** Returns the telemetry for a write: a write outside any trace comes from an engine's event. */
  private Telemetry telemetry(Context context) {
    boolean ofRequest = Span.fromContext(context).getSpanContext().isValid();
    return ofRequest ? telemetry : engineTelemetry;
  }

  /** Returns at most {@link #MAX_PODS_NAMED} of the pods, sorted. */
  private static List<String> named(Collection<String> pods) {
    List<String> named = new ArrayList<>(Math.min(pods.size(), MAX_PODS_NAMED));
    for (String pod : pods) {
      if (named.size() == MAX_PODS_NAMED) {
        break;
      }
      named.add(pod);
    }
    Collections.sort(named);
    return named;
  }

  private static int tiers(List<PodEntry> holders) {
    if (holders.size() < 2) {
      return holders.size();
    }
    Set<String> tiers = new HashSet<>();
    for (PodEntry holder : holders) {
      tiers.add(holder.tier());
    }
    return tiers.size();
  }

  private static String nameOf(KeyType type) {
    return switch (type) {
      case ENGINE -> "engine";
      case REQUEST -> "request";
    };
  }

  private static double ratio(int part, int whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }
}
