package io.inferspan.kvcache;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.kvcache.FakeIndex.Held;
import io.inferspan.kvcache.FakeIndex.Manner;
import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.score.PodScores;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** An index that keeps to nothing it promised costs its spans, never a request. */
class HostileIndexTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int[] TOKENS = new int[40];
  private static final PodEntry POD = PodEntry.of("10.0.0.1:8000", "gpu");

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeIndex index = new FakeIndex();
  private final KvCacheTracing spans =
      KvCacheTracing.create(Telemetry.using(tracing.openTelemetry()));
  private final KvCacheIndexer indexer = indexer(spans);

  private KvCacheIndexer indexer(KvCacheTracing of) {
    return KvCacheIndexer.over(index).tracing(of).lookupTimeout(Duration.ofMillis(50)).build();
  }

  private static PodScores ask(KvCacheIndexer indexer) {
    return answer(indexer.podScores(TOKENS, "m", Set.of(), Context.root()));
  }

  private static PodScores answer(CompletionStage<PodScores> stage) {
    return stage.toCompletableFuture().orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"ANSWERS", "ANSWERS_LATER"})
  void everyFailure_givesEmptyScores_andAFailedSpan(Manner manner) {
    index.behave(manner);
    assertThat(ask(indexer).size()).isZero();

    SpanRecord scores = tracing.spans().get(tracing.spans().size() - 1);
    assertThat(scores.name()).isEqualTo("llm_d.kv_cache.get_scores");
    assertThat(scores.isError()).isTrue();
    for (Held held : index.held()) {
      held.stage().complete(held.into());
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.EXCLUDE,
      names = {"ANSWERS", "ANSWERS_LATER"})
  void untraced_itIsTheSame(Manner manner) {
    index.behave(manner);

    assertThat(ask(indexer(KvCacheTracing.create(Telemetry.using(OpenTelemetry.noop())))).size())
        .isZero();
  }

  @Test
  void exceptions_areNamedByTheirClass() {
    index.behave(Manner.COMPLETES_EXCEPTIONALLY);
    ask(indexer);

    assertThatSpans(tracing.spans())
        .hasTree(
            """
            llm_d.kv_cache.get_scores {error.type=java.lang.IllegalStateException} ERROR
              llm_d.kv_cache.storage.lookup {error.type=java.lang.IllegalStateException} ERROR
            """);
  }

  @Test
  void aLateAnswer_isATimeout_andIsIgnored() {
    index.behave(Manner.NEVER_COMPLETES);
    assertThat(ask(indexer).size()).isZero();
    Held late = index.held().get(0);
    late.into().set(0, new PodEntry[] {POD});
    late.stage().complete(late.into());

    assertThatSpans(tracing.awaitSpans(2, SOON))
        .hasTree(
            """
            llm_d.kv_cache.get_scores {error.type=timeout} ERROR
              llm_d.kv_cache.storage.lookup {llm_d.kv_cache.lookup.blocks_found=1}
            """);
  }

  @Test
  void aBuffer_isNotReused_beforeItsLookupHasEnded() {
    index.behave(Manner.NEVER_COMPLETES);
    for (int i = 0; i < HitsPool.MAX_POOLED + 4; i++) {
      assertThat(ask(indexer).size()).isZero();
    }
    Set<BlockHits> used = Collections.newSetFromMap(new IdentityHashMap<>());
    index.held().forEach(held -> used.add(held.into()));
    assertThat(used).as("each lookup has its own buffer").hasSize(index.held().size());

    index.held().forEach(held -> held.stage().complete(held.into()));
    int before = index.held().size();
    ask(indexer);
    Held next = index.held().get(before);
    assertThat(used).as("now they are free").contains(next.into());
    next.stage().complete(next.into());
  }

  @Test
  void aBufferThatTheIndexReturned_isNotPooled() {
    BlockHits own = new BlockHits();
    own.reset(2);
    index.behave(Manner.NEVER_COMPLETES);
    CompletionStage<PodScores> asked = indexer.podScores(TOKENS, "m", Set.of(), Context.root());
    index.held().get(0).stage().complete(own);
    assertThat(answer(asked).size()).isZero();

    indexer.podScores(TOKENS, "m", Set.of(), Context.root());
    Held next = index.held().get(1);
    assertThat(next.into()).isNotSameAs(own);
    next.stage().complete(next.into());
  }

  @Test
  void extrasOfAnotherPrompt_areEmptyScores() {
    Prompt prompt = Prompt.of("m", TOKENS).withExtras(BlockExtras.ofBlocks(List.of(List.of("x"))));

    assertThat(answer(indexer.podScores(prompt, Set.of(), Context.root())).size()).isZero();
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            llm_d.kv_cache.get_scores {error.type=java.lang.IllegalArgumentException} ERROR
            """);
  }

  @Test
  void nullHolders_failTheSpan() {
    long key = BlockKeys.withDefaults().of("m", TOKENS)[0];
    index.put(key, new PodEntry[] {null});

    assertThat(ask(indexer).size()).isZero();
  }

  @Test
  void failedWrites_failTheirSpans_andStayFailed() {
    index.behave(Manner.COMPLETES_EXCEPTIONALLY);
    BlockIndex traced = spans.traced(index);
    CompletionStage<Void> added =
        traced.add(new long[1], new long[1], List.of(POD), Context.root());
    CompletionStage<Void> evicted = traced.evict(1, KeyType.REQUEST, List.of(POD), Context.root());

    for (CompletionStage<Void> written : List.of(added, evicted)) {
      assertThatThrownBy(() -> written.toCompletableFuture().join())
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(IllegalStateException.class);
    }
    assertThatSpans(tracing.spans())
        .hasTree(
            """
            llm_d.kv_cache.index.add {error.type=java.lang.IllegalStateException} ERROR
            llm_d.kv_cache.index.evict {error.type=java.lang.IllegalStateException} ERROR
            """);
  }

  @Test
  void exceptionsOfTheIndex_areRethrown() {
    index.behave(Manner.THROWS);
    BlockIndex traced = spans.traced(index);

    assertThatThrownBy(() -> traced.add(new long[1], new long[1], List.of(POD), Context.root()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> traced.evict(1, KeyType.REQUEST, List.of(POD), Context.root()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> traced.lookup(new long[1], Set.of(), new BlockHits(), Context.root()))
        .isInstanceOf(IllegalStateException.class);
    assertThat(tracing.spans()).hasSize(3).allMatch(SpanRecord::isError);
  }

  @Test
  void anImpossibleTimeout_isRefusedAtTheStart() {
    assertThatThrownBy(() -> KvCacheIndexer.over(index).lookupTimeout(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("lookupTimeout is PT0S; it must be positive");
  }
}
