package io.inferspan.kvcache;

import io.inferspan.OperationSpan;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An index with a span around each lookup, add and evict.
 *
 * <p>Failures of the index are recorded and passed on unchanged.
 */
final class TracedBlockIndex implements BlockIndex {

  private final BlockIndex index;
  private final KvCacheTracing tracing;

  TracedBlockIndex(BlockIndex index, KvCacheTracing tracing) {
    this.index = index;
    this.tracing = tracing;
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    OperationSpan span = tracing.lookup(keys.length, pods.size(), context);
    if (!span.recording()) {
      return index.lookup(keys, pods, into, span.context());
    }
    try {
      Context within = index.answersAtOnce() ? context : span.context();
      CompletionStage<BlockHits> found = index.lookup(keys, pods, into, within);
      if (into.isAnsweredBy(found)) {
        ended(span, into, null);
        return found;
      }
      return found.whenComplete((hits, failure) -> ended(span, hits, failure));
    } catch (RuntimeException e) {
      throw failed(span, e);
    }
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    OperationSpan span = tracing.add(engineKeys.length, requestKeys.length, holders, context);
    if (!span.recording()) {
      return index.add(engineKeys, requestKeys, holders, span.context());
    }
    try {
      return ending(span, index.add(engineKeys, requestKeys, holders, span.context()));
    } catch (RuntimeException e) {
      throw failed(span, e);
    }
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    OperationSpan span = tracing.evict(type, 1, holders, context);
    if (!span.recording()) {
      return index.evict(key, type, holders, span.context());
    }
    try {
      return ending(span, index.evict(key, type, holders, span.context()));
    } catch (RuntimeException e) {
      throw failed(span, e);
    }
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return index.requestKey(engineKey);
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return index.clear(pod);
  }

  @Override
  public int knownPods() {
    return index.knownPods();
  }

  @Override
  public long losses() {
    return index.losses();
  }

  @Override
  public void close() {
    index.close();
  }

  private void ended(OperationSpan span, @Nullable BlockHits hits, @Nullable Throwable failure) {
    if (failure != null) {
      span.fail(cause(failure));
    } else if (hits == null || hits.failure() != null) {
      tracing.unanswered(span);
    } else {
      tracing.lookedUp(span, hits.found());
    }
    span.close();
  }

  private static CompletionStage<Void> ending(OperationSpan span, CompletionStage<Void> written) {
    return written.whenComplete(
        (nothing, failure) -> {
          if (failure != null) {
            span.fail(cause(failure));
          }
          span.close();
        });
  }

  private static RuntimeException failed(OperationSpan span, RuntimeException failure) {
    span.fail(failure);
    span.close();
    return failure;
  }

  /** Returns the cause of a {@link CompletionException}, or any other failure unchanged. */
  static @Nullable Throwable cause(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
    return cause == null ? failure : cause;
  }
}
