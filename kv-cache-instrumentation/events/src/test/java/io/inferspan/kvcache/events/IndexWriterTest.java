package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Retries of an index that failed. */
class IndexWriterTest {

  private static final String POD = "10.0.0.1:8000";
  private static final Context ROOT = Context.root();

  private final FakeBlockIndex index = new FakeBlockIndex();
  private final KvEventCounts counts = new KvEventCounts();
  private final KvEventOptions options =
      KvEventOptions.builder().writeTimeout(Duration.ofMillis(50)).build();
  private final AtomicLong outages = new AtomicLong();
  private final IndexWriter writer = new IndexWriter(index, options, counts, outages);
  private final KvEventIndexer indexer =
      new KvEventIndexer(BlockKeys.withDefaults(), writer, counts);
  private final KvEventDecoder decoder = new KvEventDecoder();

  private void store(String pod, int... hashes) {
    Object[] events =
        IntStream.of(hashes).mapToObj(h -> EventBytes.stored(h, null, 16 * h)).toArray();
    indexer.apply(
        pod,
        "a-model",
        Objects.requireNonNull(decoder.decode(EventBytes.batch(events))),
        Context.root());
  }

  /** Returns how often the pod was cleared, which is the first step of each rewrite. */
  private long attempts() {
    return index.writes().stream().filter(write -> write.equals("clear " + POD)).count();
  }

  private boolean isWhole() {
    writer.maintain();
    return !writer.pod(POD).needsRepair();
  }

  @Test
  void aFailingIndex_isRetriedAtGrowingIntervals() {
    store("another", 1);
    index.full(true);
    long begun = System.nanoTime();
    store(POD, 2);
    Awaited.until(
        "four attempts",
        () -> {
          writer.maintain();
          return attempts() == 4;
        });

    // After 100, 200, 400 and 800 ms.
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(1_499));
    assertThat(outages).hasValue(1);
    assertThat(index.lookups()).isLessThanOrEqualTo(1);
    index.full(false);
    Awaited.until("the index is true again", this::isWhole);
    assertThat(index.held(POD)).hasSize(1);

    // It was well, so this is another outage, and 3.2 s would be the pause of the first.
    index.full(true);
    store(POD, 3);
    index.full(false);
    Awaited.within(Duration.ofMillis(2_500), "an attempt after 100 ms", this::isWhole);
    assertThat(index.held(POD)).hasSize(2);
    assertThat(outages).hasValue(2);
  }

  @Test
  void manyWritesThatFailTogether_areOneFailure() {
    index.silent(true);
    store(POD, IntStream.rangeClosed(1, 10).toArray());
    index.silent(false);

    // Ten doublings would be 5 s.
    writer.maintain();
    Awaited.within(Duration.ofSeconds(4), "the first attempt", this::isWhole);
    assertThat(index.held(POD)).hasSize(10);
    assertThat(counts.get(KvEventCount.FAILED_WRITES)).isEqualTo(10);
    assertThat(outages).hasValue(1);
  }

  @Test
  @Timeout(20) // one second, and 128 if each write were waited for
  void anIndexThatStopsAnswering_costsOneWait_notOnePerWrite() {
    KvEventOptions patient = KvEventOptions.builder().writeTimeout(Duration.ofSeconds(1)).build();
    IndexWriter slow = new IndexWriter(index, patient, counts, outages);
    PodBlocks pod = slow.pod(POD);
    PodBlocks.Tier tier = new PodBlocks.Tier(POD, new KvEvent.Place("gpu", false, 0));
    index.silent(true);
    for (int i = 0; i < 128; i++) {
      slow.add(pod, tier, new long[] {i}, new long[] {i}, ROOT);
    }

    assertThat(counts.get(KvEventCount.FAILED_WRITES)).isEqualTo(128);
  }

  @Test
  void aPodThatKeepsFailing_doesNotStopTheRepairOfOthers() {
    List<String> pods = IntStream.range(0, 8).mapToObj(i -> "10.0.1." + i + ":8000").toList();
    pods.forEach(pod -> store(pod, 1));
    index.broken(Set.of(pods.get(0), pods.get(3), pods.get(7)));
    index.down(true);
    pods.forEach(pod -> store(pod, 2));
    writer.maintain();
    index.down(false);

    List<String> whole = pods.stream().filter(pod -> !index.isBroken(pod)).toList();
    Awaited.until(
        "the five others are whole",
        () -> {
          writer.maintain();
          return whole.stream().noneMatch(pod -> writer.pod(pod).needsRepair());
        });
    assertThat(whole).allSatisfy(pod -> assertThat(index.held(pod)).hasSize(2));

    // Their events are written at once from here on, not held until the failing pods succeed.
    Awaited.until(
        "a later event is written",
        () -> {
          writer.maintain();
          store(whole.get(0), 3);
          writer.maintain();
          return index.held(whole.get(0)).size() == 3;
        });
    index.broken(Set.of());
    Awaited.until(
        "all are whole",
        () -> {
          writer.maintain();
          return pods.stream().noneMatch(pod -> writer.pod(pod).needsRepair());
        });
    assertThat(index.held(pods.get(0))).hasSize(2);
  }
}
