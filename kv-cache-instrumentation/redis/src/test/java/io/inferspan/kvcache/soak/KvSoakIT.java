package io.inferspan.kvcache.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.Telemetry;
import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.KvCacheIndexer;
import io.inferspan.kvcache.KvCacheTracing;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.KvEventCount;
import io.inferspan.kvcache.events.KvEventCounts;
import io.inferspan.kvcache.events.KvEventMeters;
import io.inferspan.kvcache.events.KvEventOptions;
import io.inferspan.kvcache.events.KvEventSubscriber;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.metrics.KvCacheMeters;
import io.inferspan.kvcache.redis.RedisBlockIndex;
import io.inferspan.kvcache.redis.RedisIndexCount;
import io.inferspan.kvcache.redis.RedisIndexOptions;
import io.inferspan.kvcache.redis.RedisMeters;
import io.inferspan.kvcache.redis.RedisServer;
import io.inferspan.kvcache.score.PodScores;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Ten engines change their caches, lose batches and crash, a Redis is killed, and requests are
 * scored meanwhile; in the end the index matches the engines' caches block by block.
 *
 * <p>{@code -Dkv.soak.seconds} sets the duration for both backends together, except on the oldest
 * Java, where it is short; {@code -Dkv.soak.seed} repeats the engines' choices.
 */
class KvSoakIT {

  private static final int ENGINES = 10;
  private static final String ALIKE = "alike: ";
  private static final Duration QUIET_LIMIT = Duration.ofSeconds(60);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);
  private static final long SEED = Long.getLong("kv.soak.seed", System.nanoTime());
  private static final long SHORT_SECONDS = 15;
  private static final boolean OLDEST_JAVA = Runtime.version().feature() == 17;
  private static final long SECONDS =
      OLDEST_JAVA ? SHORT_SECONDS : Long.getLong("kv.soak.seconds", SHORT_SECONDS);
  private static final long HALF_MILLIS = SECONDS * 500;

  private final Random random = new Random(SEED);
  private final Prompts prompts = new Prompts(random);
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final List<SoakEngine> engines = new ArrayList<>();
  private final OpenSpans spans = new OpenSpans();
  private final AtomicLong asked = new AtomicLong();
  private final AtomicLong scored = new AtomicLong();
  private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
  private final AtomicBoolean over = new AtomicBoolean();

  @Test
  void memory_matchesTheEngines() {
    MemoryBlockIndex index = MemoryBlockIndex.builder().podCacheSize(2 * ENGINES).build();
    try (index) {
      KvCacheMeters.in(registry).size(index, "soak");
      Map<Long, Set<PodEntry>> expected =
          soak(index, () -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50)));
      Awaited.within(QUIET_LIMIT, "no other block", () -> index.size() == expected.size());
      assertThat(index.evictions() + index.displacedHolders()).isZero();
    }
  }

  @Test
  void redis_matchesTheEngines_afterKills() {
    assumeTrue(!RedisServer.installed().isEmpty(), RedisServer.MISSING);
    try (RedisServer server = RedisServer.start();
        RedisBlockIndex index =
            RedisBlockIndex.open(RedisIndexOptions.single(server.address()).build())) {
      RedisMeters.register(registry, index, "soak");
      AtomicLong kills = new AtomicLong();
      soak(index, () -> killAndRestart(server, kills));
      assertThat(kills.get()).isPositive();
      assertThat(index.counts().get(RedisIndexCount.LOST_CONNECTIONS)).isPositive();
      assertThat(index.counts().get(RedisIndexCount.UNREADABLE_FIELDS)).isZero();
      assertThat(registry.get("inferspan.kvcache.redis.writes").functionCounter().count())
          .isEqualTo((double) index.counts().get(RedisIndexCount.WRITES));
      System.out.println("redis was killed " + kills + " times: " + index.counts());
    }
  }

  private void killAndRestart(RedisServer server, AtomicLong kills) {
    pause(1_000 + random.nextInt(1_000));
    server.kill();
    kills.incrementAndGet();
    pause(random.nextInt(800));
    server.restart();
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Runs engines and repeats {@code trouble}; returns the engines' contents at the end. */
  private Map<Long, Set<PodEntry>> soak(BlockIndex backend, Runnable trouble) {
    System.out.println("-Dkv.soak.seed=" + SEED);
    KvCacheTracing tracing = KvCacheTracing.create(Telemetry.using(recorder()));
    BlockIndex index = tracing.traced(KvCacheMeters.in(registry).metered(backend, "soak"));
    Map<Long, Set<PodEntry>> expected = new HashMap<>();
    KvEventCounts counts;
    try (KvEventSubscriber subscriber =
        KvEventSubscriber.start(index, BlockKeys.withDefaults(), following(tracing))) {
      counts = subscriber.counts();
      KvEventMeters.register(registry, subscriber);
      start(subscriber);
      List<Thread> askers = askers(KvCacheIndexer.over(index).tracing(tracing).build());
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HALF_MILLIS);
      while (System.nanoTime() < end) {
        trouble.run();
      }
      awaitTruth(backend, expected, counts);
      over.set(true);
      askers.forEach(KvSoakIT::join);
    } finally {
      over.set(true);
      engines.forEach(SoakEngine::close);
    }
    check(counts);
    return expected;
  }

  private OpenTelemetry recorder() {
    return OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(spans).build())
        .build();
  }

  private static KvEventOptions following(KvCacheTracing tracing) {
    return KvEventOptions.builder()
        .reconnect(Duration.ofMillis(100))
        .observer(tracing.batches())
        .build();
  }

  private void start(KvEventSubscriber subscriber) {
    for (int i = 0; i < ENGINES; i++) {
      SoakEngine engine = new SoakEngine(prompts, random.nextLong(), 500);
      engines.add(engine);
      subscriber.sourceAdded(engine.source());
    }
  }

  private void awaitTruth(
      BlockIndex index, Map<Long, Set<PodEntry>> expected, KvEventCounts counts) {
    engines.forEach(SoakEngine::end);
    try {
      Awaited.within(QUIET_LIMIT, "all engines have ended", this::haveEnded);
      engines.forEach(engine -> engine.addTo(expected));
      Awaited.within(QUIET_LIMIT, "the index is true", () -> says(index, expected));
    } catch (AssertionError e) {
      throw new AssertionError(
          e.getMessage() + "; " + state(index, expected) + "; " + engines + "; " + told(counts), e);
    }
  }

  private boolean haveEnded() {
    return engines.stream().allMatch(SoakEngine::hasEnded);
  }

  /** Requests, on threads that are in no hurry. */
  private List<Thread> askers(KvCacheIndexer indexer) {
    List<Thread> askers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Random choice = new Random(random.nextLong());
      Thread asker = new Thread(() -> askUntilOver(indexer, choice), "soak-asker");
      asker.setDaemon(true);
      asker.start();
      askers.add(asker);
    }
    return askers;
  }

  private void askUntilOver(KvCacheIndexer indexer, Random choice) {
    try {
      while (!over.get()) {
        ask(indexer, choice);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
    } catch (RuntimeException | AssertionError e) {
      wrong.set(e);
    }
  }

  private void ask(KvCacheIndexer indexer, Random choice) {
    Prompts.Text text = prompts.any(choice);
    String pod = engines.get(choice.nextInt(ENGINES)).pod();
    Set<String> pods = choice.nextBoolean() ? Set.of() : Set.of(pod);
    PodScores scores =
        indexer
            .podScores(text.prompt(), pods, Context.root())
            .toCompletableFuture()
            .orTimeout(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
            .join();
    asked.incrementAndGet();
    if (scores.size() > 0) {
      scored.incrementAndGet();
    }
    assertThat(scores.max()).isBetween(0.0, (double) text.blocks());
    if (!pods.isEmpty()) {
      assertThat(pods).containsAll(scores.asMap().keySet());
    }
  }

  private static void join(Thread asker) {
    try {
      asker.join(ANSWER_LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    assertThat(asker.isAlive()).isFalse();
  }

  private boolean says(BlockIndex index, Map<Long, Set<PodEntry>> expected) {
    return state(index, expected).startsWith(ALIKE);
  }

  /** Everything that helps to find out why the index says something else. */
  private String state(BlockIndex index, Map<Long, Set<PodEntry>> expected) {
    Map<String, Integer> missing = new TreeMap<>();
    Map<String, Integer> extra = new TreeMap<>();
    for (long key : prompts.keys()) {
      BlockHits hits = answer(index, key);
      Set<PodEntry> said = new HashSet<>(Arrays.asList(hits.at(0)));
      Set<PodEntry> held = expected.getOrDefault(key, Set.of());
      said.stream().filter(pod -> !held.contains(pod)).forEach(pod -> count(extra, pod));
      held.stream().filter(pod -> !said.contains(pod)).forEach(pod -> count(missing, pod));
    }
    String all = "missing in the index " + missing + ", too many " + extra;
    return missing.isEmpty() && extra.isEmpty() ? ALIKE + all : all;
  }

  /** A busy machine may make a Redis late, so it is asked until it answers. */
  private static BlockHits answer(BlockIndex index, long key) {
    BlockHits hits = new BlockHits();
    Awaited.within(
        ANSWER_LIMIT,
        "the index answers",
        () ->
            index
                    .lookup(new long[] {key}, Set.of(), hits, Context.root())
                    .toCompletableFuture()
                    .orTimeout(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    .join()
                    .failure()
                == null);
    return hits;
  }

  private static void count(Map<String, Integer> blocks, PodEntry pod) {
    blocks.merge(pod.pod() + " " + pod.tier(), 1, Integer::sum);
  }

  private String told(KvEventCounts counts) {
    return "%d batches and %d replayed in %d replays, %d of them in vain, %d lost on the way, "
            .formatted(
                counts.get(KvEventCount.BATCHES),
                counts.get(KvEventCount.REPLAYED_BATCHES),
                counts.get(KvEventCount.REPLAYS) + counts.get(KvEventCount.FAILED_REPLAYS),
                counts.get(KvEventCount.FAILED_REPLAYS),
                engines.stream().mapToInt(SoakEngine::lost).sum())
        + "%d restarts, %d rewrites, %d of %d scored, %d spans"
            .formatted(
                engines.stream().mapToInt(SoakEngine::restarts).sum(),
                counts.get(KvEventCount.REWRITES),
                scored.get(),
                asked.get(),
                spans.started());
  }

  private void check(KvEventCounts counts) {
    System.out.println(told(counts));
    assertThat(wrong.get()).isNull();
    assertThat(counts.get(KvEventCount.FAULTS)).as("faults").isZero();
    assertThat(counts.get(KvEventCount.BAD_FRAMES)).as("bad frames").isZero();
    assertThat(scored.get()).as("requests with scores").isPositive();
    assertThat(registry.get("inferspan.kvcache.events.gaps").functionCounter().count())
        .isEqualTo((double) counts.get(KvEventCount.GAPS));
    assertThat(spans.started()).isPositive();
    Awaited.within(ANSWER_LIMIT, "no span is left open", () -> spans.open() == 0);
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("inferspan-kv-events") || name.contains("kv-receive"));
  }
}
