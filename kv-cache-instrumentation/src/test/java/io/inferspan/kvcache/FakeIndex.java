package io.inferspan.kvcache;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** An index that answers as the test says, and badly where the test says so. */
public final class FakeIndex implements BlockIndex {

  /** The index's behaviour when it is called. */
  public enum Manner {
    ANSWERS,
    ANSWERS_LATER,
    SAYS_IT_CANNOT,
    THROWS,
    GIVES_NO_STAGE,
    COMPLETES_EXCEPTIONALLY,
    COMPLETES_WITH_NOTHING,
    NEVER_COMPLETES
  }

  /** One lookup that has not completed. */
  record Held(BlockHits into, CompletableFuture<BlockHits> stage) {}

  private final Map<Long, PodEntry[]> blocks = new ConcurrentHashMap<>();
  private final List<Held> held = new ArrayList<>();
  private final List<Context> contexts = new ArrayList<>();
  private Manner manner = Manner.ANSWERS;
  private String reason = "it is not there";
  private int knownPods = -1;

  /** From now on it behaves like this. */
  public FakeIndex behave(Manner other) {
    manner = other;
    return this;
  }

  /** Sets the failure reason. */
  FakeIndex saying(String words) {
    reason = words;
    return this;
  }

  /** Knows how many pods hold blocks. */
  FakeIndex knowing(int pods) {
    knownPods = pods;
    return this;
  }

  @Override
  public int knownPods() {
    return knownPods;
  }

  FakeIndex put(long key, PodEntry... holders) {
    blocks.put(key, holders);
    return this;
  }

  List<Held> held() {
    return held;
  }

  /** The contexts that it was called with. */
  List<Context> contexts() {
    return contexts;
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    if (manner == Manner.NEVER_COMPLETES) {
      contexts.add(context);
      CompletableFuture<BlockHits> stage = new CompletableFuture<>();
      held.add(new Held(into, stage));
      return stage;
    }
    for (int i = 0; i < keys.length; i++) {
      PodEntry[] holders = blocks.get(keys[i]);
      if (holders != null) {
        into.set(i, holders);
      }
    }
    return answer(into, context);
  }

  // Tests a stage that is null, or completes with null.
  @SuppressWarnings({"NullAway", "NullableProblems"})
  private CompletionStage<BlockHits> answer(BlockHits into, Context context) {
    contexts.add(context);
    switch (manner) {
      case THROWS -> throw new IllegalStateException(reason);
      case GIVES_NO_STAGE -> {
        return null;
      }
      case COMPLETES_EXCEPTIONALLY -> {
        return CompletableFuture.failedFuture(new IllegalStateException(reason));
      }
      case COMPLETES_WITH_NOTHING -> {
        return CompletableFuture.completedFuture(null);
      }
      case ANSWERS_LATER -> {
        return later(into);
      }
      case SAYS_IT_CANNOT -> into.fail(reason);
      default -> {}
    }
    return into.completed();
  }

  /** A stage that is nothing but one, as a backend may well give. */
  private static <T> CompletionStage<T> later(@Nullable T answer) {
    CompletableFuture<T> stage = new CompletableFuture<>();
    stage.completeAsync(() -> answer, CompletableFuture.delayedExecutor(5, MILLISECONDS));
    return stage.minimalCompletionStage();
  }

  private CompletionStage<Void> write(Context context) {
    contexts.add(context);
    return switch (manner) {
      case THROWS -> throw new IllegalStateException(reason);
      case NEVER_COMPLETES -> new CompletableFuture<>();
      case ANSWERS_LATER -> later(null);
      case ANSWERS -> CompletableFuture.completedFuture(null);
      default -> CompletableFuture.failedFuture(new IllegalStateException(reason));
    };
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    return write(context);
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    return write(context);
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    return CompletableFuture.completedFuture(OptionalLong.empty());
  }

  @Override
  public CompletionStage<Void> clear(String pod) {
    return write(Context.root());
  }

  @Override
  public void close() {}
}
