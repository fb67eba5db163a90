package io.inferspan.kvcache;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.kvcache.events.KvBatchObserver;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
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
 * The spans of a KV-cache index.
 *
 * <p>{@link #traced} is all that a {@link BlockIndex} needs. Whoever has an index of another kind
 * starts the spans one by one, says what came of them, and closes them. Each span starts under the
 * context given, never under that of the thread; one that is not recorded costs nothing.
 */
public final class KvCacheTracing {

  /** So many pods are named on a span at most; the counts beside them are whole. */
  public static final int MAX_PODS_NAMED = 32;

  private static final String NO_ANSWER_TYPE = "index_unavailable";
  private static final String NO_ANSWER = "the index could not answer";

  private final Telemetry telemetry;
  private final Telemetry ofEngines;

  private KvCacheTracing(Telemetry telemetry, Telemetry ofEngines) {
    this.telemetry = telemetry;
    this.ofEngines = ofEngines;
  }

  /** Spans of requests, and of what engines tell. */
  public static KvCacheTracing with(Telemetry telemetry) {
    return new KvCacheTracing(telemetry, telemetry);
  }

  /**
   * The same without spans of what engines tell: no batches of events, and no blocks added or
   * evicted outside of a request. Each of them would be a trace of its own, as the sampler says.
   */
  public KvCacheTracing withoutEvents() {
    return new KvCacheTracing(telemetry, Telemetry.using(OpenTelemetry.noop()));
  }

  /** The same index, with a span around each lookup, add and evict; one around it is enough. */
  public BlockIndex traced(BlockIndex index) {
    return index instanceof TracedBlockIndex ? index : new TracedBlockIndex(index, this);
  }

  /**
   * Starts the span of scoring pods for a prompt.
   *
   * @param pods the pods that count; empty for all
   */
  public OperationSpan scores(String model, int tokens, Set<String> pods, Context parent) {
    OperationSpan span =
        telemetry
            .span(KvCacheSpans.GET_SCORES, parent)
            .set(GenAiAttributes.REQUEST_MODEL, model)
            .set(KvCacheAttributes.TOKEN_COUNT, tokens)
            .start();
    if (span.recording() && !pods.isEmpty()) {
      considered(span, pods.size(), named(pods));
    }
    return span;
  }

  /** Says how many whole blocks the prompt has; without any there is nothing to find. */
  public void keyed(OperationSpan scores, int keys) {
    scores.set(KvCacheAttributes.BLOCK_KEYS, keys);
  }

  /**
   * Says what was found for a prompt of at least one block.
   *
   * @param pods the pods that count; where it is empty, those found are the ones considered
   */
  public void found(OperationSpan scores, BlockHits hits, Set<String> pods) {
    if (!scores.recording()) {
      return;
    }
    if (hits.failure() != null) {
      unanswered(scores);
      return;
    }
    FoundBlocks found = FoundBlocks.in(hits);
    List<String> named = named(found.pods());
    if (pods.isEmpty()) {
      considered(scores, found.pods().size(), named);
    }
    int considered = pods.isEmpty() ? found.pods().size() : pods.size();
    scores
        .set(KvCacheAttributes.TOTAL_BLOCKS_AVAILABLE, found.entries())
        .set(KvCacheAttributes.BLOCKS_FOUND, found.blocks())
        .set(KvCacheAttributes.BLOCK_HIT_RATIO, ratio(found.blocks(), hits.size()))
        .set(KvCacheAttributes.HIT_RATIO, ratio(found.pods().size(), considered))
        .set(KvCacheAttributes.PODS_WITH_HITS_COUNT, found.pods().size())
        .set(KvCacheAttributes.PODS_WITH_HITS, named);
  }

  /** Starts the span of reading the index; {@code pods} is how many it is limited to, 0 for all. */
  public OperationSpan lookup(int keys, int pods, Context parent) {
    return telemetry
        .span(KvCacheSpans.LOOKUP, parent)
        .set(KvCacheAttributes.LOOKUP_BLOCKS, keys)
        .set(KvCacheAttributes.LOOKUP_POD_FILTER, pods)
        .start();
  }

  /** Says of how many blocks the index knew a holder. */
  public void lookedUp(OperationSpan lookup, int blocks) {
    lookup
        .set(KvCacheAttributes.LOOKUP_HIT, blocks > 0)
        .set(KvCacheAttributes.LOOKUP_FOUND, blocks);
  }

  /**
   * Says that the index could not answer. What it said of it stays here: who knows what is in it.
   */
  public void unanswered(OperationSpan span) {
    span.fail(NO_ANSWER_TYPE, NO_ANSWER);
  }

  /** Starts the span of turning what was found into scores. */
  public OperationSpan compute(String algorithm, int keys, Context parent) {
    return telemetry
        .span(KvCacheSpans.COMPUTE, parent)
        .set(KvCacheAttributes.ALGORITHM, algorithm)
        .set(KvCacheAttributes.SCORER_KEYS, keys)
        .start();
  }

  /**
   * Says what the scores are.
   *
   * @param pods how many pods got one
   * @param hits what they were made from
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

  /** Starts the span of blocks that enter the index: of a request, else a trace of its own. */
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

  /** Starts the span of blocks that leave the index: of a request, else a trace of its own. */
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

  /**
   * Starts the span of a batch of an engine's events, which is a trace of its own; blocks that it
   * adds and evicts belong under it.
   */
  public OperationSpan events(KvBatchObserver.Batch batch) {
    return ofEngines
        .span(KvCacheSpans.EVENTS, Context.root())
        .set(KvCacheAttributes.EVENTS_TOPIC, batch.topic())
        .set(KvCacheAttributes.EVENTS_SEQUENCE, batch.sequence())
        .set(KvCacheAttributes.EVENTS_BYTES, batch.bytes())
        .set(KvCacheAttributes.EVENTS_SOURCE, batch.endpoint())
        .set(KvCacheAttributes.EVENTS_POD, batch.pod())
        .set(KvCacheAttributes.EVENTS_COUNT, batch.events())
        .start();
  }

  /** Records batches of events as they enter an index. */
  public KvBatchObserver batches() {
    return batch -> TracedBatch.of(events(batch));
  }

  /** Whoever writes outside of any trace does so because an engine told it to. */
  private Telemetry telemetry(Context context) {
    boolean ofRequest = Span.fromContext(context).getSpanContext().isValid();
    return ofRequest ? telemetry : ofEngines;
  }

  private static void considered(OperationSpan scores, int pods, List<String> named) {
    scores.set(KvCacheAttributes.POD_COUNT, pods).set(KvCacheAttributes.PODS, named);
  }

  /** The first of them, in an order that is the same on every run. */
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
