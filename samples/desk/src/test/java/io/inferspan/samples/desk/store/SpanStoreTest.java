package io.inferspan.samples.desk.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.desk.otlp.Drop;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.trace.SummaryReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SpanStoreTest {

  private final Drops drops = new Drops();
  private long nowNanos = 1_000_000_000_000L;

  private SpanStore store(long maxSpans, long maxBytes, int maxPerTrace) {
    return new SpanStore(
        new Bounds(maxSpans, maxBytes, maxPerTrace), drops, new SummaryReader(), () -> nowNanos);
  }

  private SpanStore store() {
    return store(1_000, 1 << 24, 1_000);
  }

  private void pass(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static TestSpan root(long trace) {
    return TestSpan.named("root", "shop").id(trace, 1, 0).kind(2).at(0, 100);
  }

  private static TestSpan child(long trace, long id) {
    return TestSpan.named("step", "shop").id(trace, id, 1).at(10, 20);
  }

  private static List<Summary> list(SpanStore store) {
    store.summarise(0);
    List<Summary> all = new ArrayList<>();
    store.list().newestFirst().forEach(all::add);
    return all;
  }

  private static Status status(SpanStore store) {
    return list(store).getFirst().outcome().status();
  }

  private static TraceId id(long trace) {
    return new TraceId(trace, trace);
  }

  @Test
  void latestChange_isListedFirst() {
    SpanStore store = store();
    store.add(TestSpan.received(root(1), root(2)));
    assertThat(list(store)).extracting(Summary::traceId).containsExactly(id(2), id(1));

    pass(1_000);
    store.add(TestSpan.received(child(1, 5)));

    assertThat(list(store)).extracting(Summary::traceId).containsExactly(id(1), id(2));
    assertThat(list(store))
        .extracting(Summary::seq)
        .isSortedAccordingTo((a, b) -> Long.compare(b, a));
  }

  @Test
  void spanWithoutAVisibleChange_keepsTheOrder() {
    SpanStore store = store();
    store.add(TestSpan.received(root(1), child(1, 5)));
    long before = list(store).getFirst().seq();

    pass(1_000);
    store.add(TestSpan.received(child(1, 5)));

    assertThat(list(store).getFirst().seq()).isEqualTo(before);
  }

  @Test
  void oldestTrace_isDroppedFirst_andCounted() {
    SpanStore store = store(10, 1 << 24, 10);
    for (long trace = 1; trace <= 6; trace++) {
      store.add(TestSpan.received(root(trace), child(trace, 2)));
    }

    assertThat(list(store))
        .extracting(Summary::traceId)
        .containsExactly(id(6), id(5), id(4), id(3), id(2));
    assertThat(store.find(id(1))).isNull();
    assertThat(store.size().spans()).isEqualTo(10);
    assertThat(store.size().received()).isEqualTo(12);
    assertThat(drops.count(Drop.OLDEST_TRACE)).isEqualTo(2);
  }

  @Test
  void growingTrace_outlivesTracesWithoutNewSpans() {
    SpanStore store = store(4, 1 << 24, 4);
    store.add(TestSpan.received(root(1), root(2), root(3)));
    store.add(TestSpan.received(child(1, 2)));
    store.add(TestSpan.received(root(4)));

    assertThat(store.find(id(1))).isNotNull();
    assertThat(store.find(id(2))).isNull();
  }

  @Test
  void bytes_areAlsoLimited() {
    SpanStore store = store(1_000_000, 300_000, 1_000);
    for (long trace = 1; trace <= 500; trace++) {
      store.add(TestSpan.received(root(trace).with("text", "x".repeat(5_000))));
    }

    SpanStore.Size size = store.size();
    assertThat(size.bytes()).isLessThanOrEqualTo(300_000);
    assertThat(size.spans()).isBetween(20L, 60L);
    assertThat(drops.count(Drop.OLDEST_TRACE)).isEqualTo(500 - size.spans());
  }

  @Test
  void droppedTraces_freeTheirBytes() {
    SpanStore store = store(1, 1 << 24, 10);
    for (long trace = 1; trace <= 100; trace++) {
      store.add(TestSpan.received(root(trace)));
    }

    assertThat(store.size().traces()).isEqualTo(1);
    assertThat(store.size().bytes()).isLessThan(2_000);
  }

  @Test
  void fullTrace_acceptsOnlyItsRoot() {
    SpanStore store = store(1_000, 1 << 24, 40);
    for (long id = 2; id < 100; id++) {
      store.add(TestSpan.received(child(1, id)));
    }
    store.add(TestSpan.received(root(1)));

    TraceSpans spans = Objects.requireNonNull(store.find(id(1)));
    assertThat(spans.spans()).hasSize(39);
    assertThat(spans.cut()).isEqualTo(60);
    assertThat(drops.count(Drop.TRACE_FULL)).isEqualTo(60);
    assertThat(status(store)).isEqualTo(Status.OK);
    assertThat(list(store).getFirst().counts().dropped()).isEqualTo(60);
  }

  @Test
  void traceWithoutRoot_isOpenAndThenBroken() {
    SpanStore store = store();
    store.add(TestSpan.received(child(1, 5)));
    assertThat(status(store)).isEqualTo(Status.OPEN);

    pass(1_100);
    assertThat(status(store)).isEqualTo(Status.OPEN);

    pass(200);
    assertThat(status(store)).isEqualTo(Status.BROKEN);
  }

  @Test
  void traceWithNewSpans_staysOpen() {
    SpanStore store = store();
    for (int i = 0; i < 5; i++) {
      store.add(TestSpan.received(child(1, 5 + i)));
      assertThat(status(store)).isEqualTo(Status.OPEN);
      pass(1_100);
      assertThat(status(store)).isEqualTo(Status.OPEN);
    }
  }

  @Test
  void brokenTrace_isCompleteAgainWhenItsRootArrives() {
    SpanStore store = store();
    store.add(TestSpan.received(child(1, 5)));
    pass(5_000);
    assertThat(status(store)).isEqualTo(Status.BROKEN);

    pass(10);
    store.add(TestSpan.received(root(1)));

    assertThat(status(store)).isEqualTo(Status.OK);
  }

  @Test
  void orphanSpan_breaksATraceThatHasItsRoot() {
    SpanStore store = store();
    store.add(TestSpan.received(root(1), TestSpan.named("lost", "engine").id(1, 9, 77).at(5, 6)));
    assertThat(status(store)).isEqualTo(Status.OK);

    pass(1_600);

    assertThat(status(store)).isEqualTo(Status.BROKEN);
  }

  @Test
  void traceThatCannotBeSummarised_isCounted_andDoesNotAffectOthers() {
    SpanStore store =
        new SpanStore(
            new Bounds(1_000, 1 << 24, 1_000),
            drops,
            trace -> {
              if (trace.id().equals(id(2))) {
                throw new IllegalStateException("a fault");
              }
              return new SummaryReader().summarise(trace);
            });
    store.add(TestSpan.received(root(1), root(2), root(3)));

    assertThat(list(store)).extracting(Summary::traceId).containsExactly(id(3), id(1));
    assertThat(drops.count(Drop.NOT_SUMMARISED)).isEqualTo(1);
  }

  @Test
  void backlog_isSummarisedInTimeSlices() {
    long[] made = {0};
    SpanStore store =
        new SpanStore(
            Bounds.of(100_000, 1 << 30),
            drops,
            trace -> {
              made[0]++;
              pass(1);
              return new SummaryReader().summarise(trace);
            },
            () -> nowNanos);
    for (long trace = 1; trace <= 5_000; trace++) {
      store.add(TestSpan.received(root(trace)));
    }

    store.summarise(TimeUnit.MILLISECONDS.toNanos(25));
    assertThat(made[0]).isBetween(1L, 250L);

    store.summarise(TimeUnit.MILLISECONDS.toNanos(60_000));
    assertThat(made[0]).isEqualTo(5_000);
    assertThat(list(store)).hasSize(5_000);
  }

  @Test
  void backlog_yieldsToASearch() throws InterruptedException {
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch searched = new CountDownLatch(1);
    AtomicLong made = new AtomicLong();
    SpanStore store =
        new SpanStore(
            new Bounds(10_000, 1 << 24, 1_000),
            drops,
            trace -> {
              made.incrementAndGet();
              atWork.countDown();
              await(searched);
              return new SummaryReader().summarise(trace);
            });
    for (long trace = 1; trace <= 5_000; trace++) {
      store.add(TestSpan.received(root(trace)));
    }
    Thread backlog = new Thread(() -> store.summarise(TimeUnit.MINUTES.toNanos(1)));
    backlog.start();
    await(atWork);

    Thread search = new Thread(() -> store.summarise(0));
    search.start();
    while (search.getState() != Thread.State.WAITING && search.isAlive()) {
      Thread.onSpinWait();
    }
    searched.countDown();
    assertThat(backlog.join(Duration.ofMinutes(1)) && search.join(Duration.ofMinutes(1))).isTrue();

    // One batch of each thread.
    assertThat(made.get()).isEqualTo(500);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void changesSinceANumber_areLimitedToTheLatest() {
    SpanStore store = store();
    store.add(TestSpan.received(root(1), root(2)));
    list(store);
    long seen = store.list().lastSeq();
    store.add(TestSpan.received(root(3), root(4), root(5)));
    list(store);

    assertThat(store.list().changedSince(seen, 10))
        .extracting(Summary::traceId)
        .containsExactly(id(3), id(4), id(5));
    assertThat(store.list().changedSince(seen, 2))
        .extracting(Summary::traceId)
        .containsExactly(id(4), id(5));
  }
}
