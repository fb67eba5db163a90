package io.inferspan.kvcache;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.score.LongestPrefixScorer;
import io.inferspan.kvcache.score.PodScores;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Scores pods for a prompt: computes block keys, reads the index, applies the scorer, and records
 * the spans.
 *
 * <p>It never throws and never blocks. If the index does not answer, no pod has a score, and the
 * span records the failure. Any thread may call it, including event loops. On a virtual thread,
 * {@code indexer.podScores(…).toCompletableFuture().join()} waits for the answer.
 */
public final class KvCacheIndexer {

  private static final String ALGORITHM = "LongestPrefix";
  private static final String TIMEOUT_TYPE = "timeout";
  private static final String TIMEOUT = "the index did not answer in time";

  private final BlockIndex index;
  private final KvCacheTracing tracing;
  private final BlockKeys blockKeys;
  private final LongestPrefixScorer scorer;
  private final long lookupTimeoutNanos;
  private final PodScores noScores;
  private final HitsPool pool = new HitsPool();

  private KvCacheIndexer(Builder builder) {
    this.tracing = builder.tracing;
    this.index = tracing.traced(builder.index);
    this.blockKeys = builder.blockKeys;
    this.scorer = builder.scorer;
    this.lookupTimeoutNanos = builder.lookupTimeout.toNanos();
    this.noScores = scorer.score(new BlockHits(), 0);
  }

  /** Returns a builder for an indexer that reads {@code index}. The caller fills and closes it. */
  public static Builder over(BlockIndex index) {
    return new Builder(index);
  }

  /**
   * Scores pods by how much of a prompt their caches hold.
   *
   * @param pods the pods to score; empty for all
   * @param context the context of the request
   * @return a stage that never fails; the scores are empty if the tokens fill no block
   */
  public CompletionStage<PodScores> podScores(
      int[] tokens, String model, Set<String> pods, Context context) {
    return podScores(Prompt.of(model, tokens), pods, context);
  }

  /**
   * Scores pods by how much of a prompt their caches hold.
   *
   * @param pods the pods to score; empty for all
   * @param context the context of the request
   * @return a stage that never fails; the scores are empty if the tokens fill no block
   */
  public CompletionStage<PodScores> podScores(Prompt prompt, Set<String> pods, Context context) {
    OperationSpan span = tracing.scores(prompt.model(), prompt.tokens(), pods, context);
    try {
      long[] keys = prompt.keys(blockKeys);
      tracing.keyed(span, keys.length);
      if (keys.length == 0) {
        span.close();
        return CompletableFuture.completedFuture(noScores);
      }
      return scored(keys, new PendingLookup(keys.length, pods, span, pool.acquire()));
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(failed(span, e));
    }
  }

  private CompletionStage<PodScores> scored(long[] keys, PendingLookup lookup) {
    CompletionStage<BlockHits> stage =
        index.lookup(keys, lookup.pods, lookup.into, lookup.span.context());
    if (lookup.into.isAnsweredBy(stage)) {
      return CompletableFuture.completedFuture(scores(lookup, lookup.into, null));
    }
    CompletableFuture<BlockHits> answer = new CompletableFuture<>();
    stage.whenComplete((hits, failure) -> complete(lookup, answer, hits, failure));
    return answer
        .orTimeout(lookupTimeoutNanos, TimeUnit.NANOSECONDS)
        .handle((hits, failure) -> scores(lookup, hits, failure));
  }

  /** Completes a lookup. If it has already timed out, returns the buffer to the pool. */
  private void complete(
      PendingLookup lookup,
      CompletableFuture<BlockHits> answer,
      @Nullable BlockHits hits,
      @Nullable Throwable failure) {
    if (failure != null) {
      answer.completeExceptionally(failure);
    } else if (hits == null) {
      answer.completeExceptionally(new NullPointerException("hits"));
    } else if (!answer.complete(hits) && isOwn(lookup, hits)) {
      pool.release(hits);
    }
  }

  private PodScores scores(
      PendingLookup lookup, @Nullable BlockHits hits, @Nullable Throwable failure) {
    OperationSpan span = lookup.span;
    if (hits == null) {
      return failed(span, failure);
    }
    try {
      PodScores scores = hits.failure() == null ? computed(lookup, hits) : noScores;
      tracing.found(span, hits, lookup.considered(index));
      span.close();
      return scores;
    } catch (RuntimeException e) {
      return failed(span, e);
    } finally {
      if (isOwn(lookup, hits)) {
        pool.release(hits);
      }
    }
  }

  private PodScores computed(PendingLookup lookup, BlockHits hits) {
    OperationSpan span = tracing.compute(ALGORITHM, lookup.keys, lookup.span.context());
    try {
      PodScores scores = scorer.score(hits, lookup.keys);
      tracing.computed(span, scores.size(), scores.max(), scores.average(), hits);
      return scores;
    } catch (RuntimeException e) {
      span.fail(e);
      throw e;
    } finally {
      span.close();
    }
  }

  private PodScores failed(OperationSpan span, @Nullable Throwable failure) {
    if (failure instanceof TimeoutException) {
      span.fail(TIMEOUT_TYPE, TIMEOUT);
    } else {
      span.fail(TracedBlockIndex.cause(failure));
    }
    span.close();
    return noScores;
  }

  @SuppressWarnings(
      "ReferenceEquality") // only the buffer that was passed to the index may be reused
  private static boolean isOwn(PendingLookup lookup, BlockHits hits) {
    return hits == lookup.into;
  }

  /** A pending lookup; {@code keys} is the number of its keys. */
  private record PendingLookup(int keys, Set<String> pods, OperationSpan span, BlockHits into) {

    /** Returns how many pods were considered, or -1 if unknown. */
    int considered(BlockIndex index) {
      if (!span.recording()) {
        return -1;
      }
      return pods.isEmpty() ? index.knownPods() : pods.size();
    }
  }

  /** Builder for {@link KvCacheIndexer}; defaults are llm-d's. */
  public static final class Builder {

    private final BlockIndex index;
    private KvCacheTracing tracing = KvCacheTracing.create(Telemetry.using(OpenTelemetry.noop()));
    private BlockKeys blockKeys = BlockKeys.withDefaults();
    private LongestPrefixScorer scorer = LongestPrefixScorer.withDefaults();
    private Duration lookupTimeout = Duration.ofSeconds(1);

    private Builder(BlockIndex index) {
      this.index = index;
    }

    /** Records spans; there are none by default. */
    public Builder tracing(KvCacheTracing spans) {
      tracing = spans;
      return this;
    }

    /** Sets the block keys; defaults to {@link BlockKeys#withDefaults()}. */
    public Builder blockKeys(BlockKeys keys) {
      blockKeys = keys;
      return this;
    }

    /** Sets the scorer; defaults to {@link LongestPrefixScorer#withDefaults()}. */
    public Builder scorer(LongestPrefixScorer other) {
      scorer = other;
      return this;
    }

    /**
     * Sets the timeout of lookups, for an index that has no timeout of its own; 1 second by
     * default. Stages that depend on a timed-out lookup run on the JDK's timer thread and must not
     * block it.
     */
    public Builder lookupTimeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("lookupTimeout is " + timeout + "; it must be positive");
      }
      lookupTimeout = timeout;
      return this;
    }

    /** Returns the indexer, which is thread-safe. */
    public KvCacheIndexer build() {
      return new KvCacheIndexer(this);
    }
  }
}
