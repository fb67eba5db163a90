package io.inferspan.ebpf.context;

import static io.inferspan.ebpf.context.TestContexts.ids;
import static io.inferspan.ebpf.context.TestContexts.ownThreads;
import static io.inferspan.ebpf.context.TestContexts.sampled;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads start and end, tids and slots are reused, and no stale context is left. */
class OwnThreadsTest {

  private final FakeThreadMap table = new FakeThreadMap(64);
  private final OwnThreads threads = ownThreads(table, null);
  private final ContextStorage storage =
      new PublishingContextStorage(ContextStorage.defaultStorage());

  @BeforeEach
  void start() {
    assertThat(PublishingContextStorage.start(threads)).isTrue();
  }

  @AfterEach
  void stop() {
    threads.close();
  }

  private @Nullable String now() {
    return table.contextOf(Threads.currentTid());
  }

  @Test
  void threadThatEndsWithAnOpenScope_leavesNothingAfterASweep() throws Exception {
    int[] tid = new int[1];
    Thread leaking =
        Thread.ofPlatform()
            .start(
                () -> {
                  storage.attach(sampled(9));
                  tid[0] = Threads.currentTid();
                  assertThat(now()).isEqualTo(ids(9));
                });
    leaking.join();

    threads.sweep();

    assertThat(table.contextOf(tid[0])).isNull();
    assertThat(table.slots).doesNotContainKey(tid[0]);
    assertThat(threads.registered()).isZero();
    for (int at = 0; at < table.memory.capacity(); at += ThreadRecord.BYTES) {
      assertThat(table.memory.getLong(at)).isZero();
    }
  }

  @Test
  void signal_isSentForSampledContextsOnly_whileEnabled() {
    List<Long> began = new ArrayList<>();
    ContextSignal signal = new ContextSignal(began::add);
    threads.close();
    try (OwnThreads listened =
        new OwnThreads(table.memory, table, Threads::currentTid, null, signal)) {
      assertThat(PublishingContextStorage.start(listened)).isTrue();
      storage.attach(sampled(1)).close();
      signal.enable(true);
      storage.attach(TestContexts.unsampled(2)).close();
      try (Scope outer = storage.attach(sampled(3))) {
        assertThat(listened.isServing()).isTrue();
        storage.attach(sampled(4)).close();
      }
      assertThat(listened.isServing()).isFalse();
      signal.enable(false);
      storage.attach(sampled(5)).close();
    }

    assertThat(began).hasSize(3);
    assertThat(began.get(0)).isEqualTo(began.get(2)).isNotEqualTo(began.get(1));
  }

  @Test
  void slots_areReused() throws Exception {
    for (int i = 1; i <= 500; i++) {
      int span = i;
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (Scope scope = storage.attach(sampled(span))) {
                      assertThat(now()).isEqualTo(ids(span));
                    }
                  });
      thread.join();
    }

    assertThat(table.puts).hasValue(500);
    assertThat(threads.refusals()).isZero();
    threads.sweep();
    assertThat(table.slots).isEmpty();
  }

  @Test
  void threadWithAReusedTid_startsWithoutAContext() throws Exception {
    threads.close();
    FakeThreadMap reused = new FakeThreadMap(4);
    OwnThreads sameNumber =
        new OwnThreads(reused.memory, reused, () -> 4_711, null, TestContexts.silent());
    assertThat(PublishingContextStorage.start(sameNumber)).isTrue();
    try {
      Thread first = Thread.ofPlatform().start(() -> storage.attach(sampled(1)));
      first.join();
      assertThat(reused.contextOf(4_711)).isEqualTo(ids(1)); // stale until the tid is reused
      Thread second =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (Scope scope = storage.attach(sampled(2))) {
                      assertThat(reused.contextOf(4_711)).isEqualTo(ids(2));
                    }
                    assertThat(reused.contextOf(4_711)).isNull();
                  });
      second.join();

      assertThat(reused.contextOf(4_711)).isNull();
      sameNumber.sweep();
      assertThat(reused.slots).isEmpty();
      for (int at = 0; at < reused.memory.capacity(); at += ThreadRecord.BYTES) {
        assertThat(reused.memory.getLong(at)).isZero();
      }
    } finally {
      sameNumber.close();
    }
  }

  @Test
  void slotOfAThreadThatTheKernelStillKnows_isNotReused() throws Exception {
    Thread first = Thread.ofPlatform().start(() -> storage.attach(sampled(1)));
    first.join();
    int slot = table.slots.values().iterator().next();
    table.broken = true;
    threads.sweep();

    assertThat(threads.isServing()).isFalse();
    try (Scope scope = storage.attach(sampled(2))) {
      assertThat(table.slots.get(Threads.currentTid())).isNotEqualTo(slot);
    }
    table.broken = false;
    threads.sweep();
    assertThat(table.slots).containsOnlyKeys(Threads.currentTid());
  }

  @Test
  void slotOfAThreadWhoseTidCannotBeRegistered_isNotReused() throws Exception {
    threads.close();
    AtomicInteger tid = new AtomicInteger(4_711);
    FakeThreadMap reused = new FakeThreadMap(4);
    try (OwnThreads sameNumber =
        new OwnThreads(reused.memory, reused, tid::get, null, TestContexts.silent())) {
      assertThat(PublishingContextStorage.start(sameNumber)).isTrue();
      Thread.ofPlatform().start(() -> storage.attach(sampled(1))).join();
      reused.full = true;
      Thread.ofPlatform().start(() -> storage.attach(sampled(2)).close()).join();
      reused.full = false;
      tid.set(4_712);

      Thread.ofPlatform().start(() -> storage.attach(sampled(3)).close()).join();

      assertThat(reused.slots).containsOnlyKeys(4_711, 4_712);
      assertThat(reused.slots.get(4_711)).isNotEqualTo(reused.slots.get(4_712));
    }
  }

  @Test
  void moreThreadsThanSlots_areRefusedAndCounted() throws Exception {
    CountDownLatch all = new CountDownLatch(1);
    AtomicInteger published = new AtomicInteger();
    List<Thread> running = new ArrayList<>();
    CountDownLatch asked = new CountDownLatch(70);
    for (int i = 1; i <= 70; i++) {
      int span = i;
      running.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int again = 0; again < 3; again++) {
                      try (Scope scope = storage.attach(sampled(span))) {
                        if (ids(span).equals(now())) {
                          published.incrementAndGet();
                        }
                      }
                    }
                    asked.countDown();
                    await(all);
                  }));
    }
    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    all.countDown();
    for (Thread thread : running) {
      thread.join();
    }

    assertThat(threads.refusals()).isEqualTo(6);
    assertThat(published).hasValue(3 * 64);
  }

  @Test
  void refusedThread_isRegisteredOnceASlotIsFree() {
    table.full = true;
    storage.attach(sampled(1)).close();
    table.full = false;
    storage.attach(sampled(1)).close();
    assertThat(threads.refusals()).as("not at every switch").isOne();

    threads.sweep();

    try (Scope scope = storage.attach(sampled(2))) {
      assertThat(now()).isEqualTo(ids(2));
    }
  }

  @Test
  void fullMap_doesNotAffectTheRequest() {
    table.full = true;

    try (Scope scope = storage.attach(sampled(1))) {
      assertThat(storage.current()).isNotNull();
    }

    assertThat(threads.refusals()).isOne();
  }

  @Test
  void unknownTid_doesNotAffectTheRequest() {
    threads.close();
    OwnThreads nameless =
        new OwnThreads(
            table.memory,
            table,
            () -> {
              throw new IllegalStateException("the program does not run");
            },
            null,
            TestContexts.silent());
    try (nameless) {
      assertThat(PublishingContextStorage.start(nameless)).isTrue();

      try (Scope scope = storage.attach(sampled(1))) {
        assertThat(storage.current()).isNotNull();
      }

      assertThat(nameless.refusals()).isOne();
      assertThat(nameless.registered()).isZero();
    }
    assertThat(storage.current()).isNull();
  }

  @Test
  void closedMemory_doesNotAffectTheRequest() {
    Scope scope = storage.attach(sampled(1));
    table.arena.close();

    scope.close();
    storage.attach(sampled(2)).close();

    assertThat(storage.current()).isNull();
    assertThat(threads.failures()).isPositive();
  }

  @Test
  void closedThreads_callNoListener() {
    Scope scope = storage.attach(sampled(1));
    threads.close();

    assertThat(table.slots).isEmpty();
    assertThat(table.memory.getLong(0)).isZero();
    scope.close();
    storage.attach(sampled(2)).close();
    assertThat(table.memory.getLong(0)).isZero();
  }

  @Test
  void secondPublisher_isRefusedUntilTheFirstHasClosed() {
    try (OwnThreads other = ownThreads(new FakeThreadMap(4), null)) {
      assertThat(PublishingContextStorage.start(other)).isFalse();
      threads.close();
      assertThat(PublishingContextStorage.start(other)).isTrue();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
