package io.inferspan.kvcache.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.kvcache.FakeIndex;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The values of the meters after a scripted run. */
class KvCacheMetersTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final PodEntry B = PodEntry.of("10.0.0.2:8000", "gpu");
  private static final PodEntry C = PodEntry.of("10.0.0.3:8000", "gpu");
  private static final String NAME = "under-test";

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final KvCacheMeters meters = KvCacheMeters.in(registry);
  private final MemoryBlockIndex memory = MemoryBlockIndex.builder().podCacheSize(2).build();
  private final BlockIndex metered = meters.metered(memory, NAME);

  @AfterEach
  void close() {
    memory.close();
  }

  private void add(long... keys) {
    metered.add(new long[0], keys, List.of(A), Context.root());
  }

  private BlockHits lookup(long... keys) {
    return metered
        .lookup(keys, Set.of(), new BlockHits(), Context.root())
        .toCompletableFuture()
        .join();
  }

  private double counter(String name, String... tags) {
    return registry.get("inferspan.kvcache." + name).tags(tags).counter().count();
  }

  private double size() {
    return registry.get("inferspan.kvcache.index.size").tag("index", NAME).gauge().value();
  }

  private double evictions(String what) {
    return registry
        .get("inferspan.kvcache.index.evictions")
        .tag("what", what)
        .functionCounter()
        .count();
  }

  @Test
  void lookups_areTimed_andTheirBlocksCounted() {
    add(1, 2);
    assertThat(lookup(1, 2, 3).at(0)).containsExactly(A);
    lookup(4);

    assertThat(registry.get("inferspan.kvcache.lookup").tag("index", NAME).timer().count())
        .isEqualTo(2);
    assertThat(registry.get("inferspan.kvcache.lookup").timer().totalTime(TimeUnit.NANOSECONDS))
        .isPositive();
    assertThat(counter("lookup.blocks", "result", "found")).isEqualTo(2);
    assertThat(counter("lookup.blocks", "result", "missing")).isEqualTo(2);
    assertThat(counter("lookup.failures")).isZero();
  }

  @Test
  void writes_areCountedByKind() {
    add(1);
    add(2);
    metered.evict(1, KeyType.REQUEST, List.of(A), Context.root());
    metered.clear(A.pod());

    assertThat(counter("writes", "kind", "add")).isEqualTo(2);
    assertThat(counter("writes", "kind", "evict")).isEqualTo(1);
    assertThat(counter("writes", "kind", "clear")).isEqualTo(1);
    assertThat(counter("write.failures", "kind", "add")).isZero();
    assertThat(lookup(1, 2).found()).isZero();
  }

  @Test
  void anIndexInMemory_hasASizeMeter() {
    meters.size(memory, NAME);
    add(1, 2, 3);
    metered.add(new long[0], new long[] {1}, List.of(B, C), Context.root());

    assertThat(size()).isEqualTo(3);
    assertThat(evictions("holder")).isEqualTo(1);
    assertThat(evictions("block")).isZero();
    assertThat(evictions("engine_hash")).isZero();
  }

  @Test
  void everyMeter_isRegisteredAtTheStart_withFewTags() {
    meters.size(memory, NAME);

    assertThat(registry.getMeters().stream().map(Meter::getId))
        .hasSize(14)
        .allMatch(id -> id.getName().startsWith("inferspan.kvcache."))
        .allMatch(id -> id.getTags().size() <= 2)
        .allMatch(id -> NAME.equals(id.getTag("index")))
        .allMatch(id -> id.getDescription() != null);
  }

  @Test
  void failures_areCounted_andPassedOn() {
    FakeIndex index = new FakeIndex().behave(FakeIndex.Manner.SAYS_IT_CANNOT);
    BlockIndex broken = meters.metered(index, "broken");
    BlockHits hits =
        broken
            .lookup(new long[2], Set.of(), new BlockHits(), Context.root())
            .toCompletableFuture()
            .join();
    assertThat(hits.failure()).isNotNull();
    assertThat(broken.add(new long[0], new long[1], List.of(A), Context.root()))
        .isCompletedExceptionally();
    index.behave(FakeIndex.Manner.THROWS);
    assertThatThrownBy(() -> broken.clear("a")).isInstanceOf(IllegalStateException.class);

    assertThat(counter("lookup.failures", "index", "broken")).isEqualTo(1);
    assertThat(counter("lookup.blocks", "index", "broken", "result", "missing")).isZero();
    assertThat(counter("write.failures", "index", "broken", "kind", "add")).isEqualTo(1);
    assertThat(counter("write.failures", "index", "broken", "kind", "clear")).isEqualTo(1);
    assertThat(counter("write.failures", "index", NAME, "kind", "clear")).isZero();
  }
}
