package io.inferspan.ebpf.context;

import static io.inferspan.ebpf.context.TestContexts.TRACE;
import static io.inferspan.ebpf.context.TestContexts.ids;
import static io.inferspan.ebpf.context.TestContexts.ownThreads;
import static io.inferspan.ebpf.context.TestContexts.sampled;
import static io.inferspan.ebpf.context.TestContexts.unsampled;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every storage publishes a thread's context to the kernel exactly while it is current. */
abstract class ContextStorageContract {

  private final FakeThreadMap table = new FakeThreadMap(64);
  private final OwnThreads threads = ownThreads(table, null);
  private final ContextStorage storage;

  ContextStorageContract(ContextStorage storage) {
    this.storage = storage;
  }

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
  void sampledSpan_isReportedWhileItIsCurrent() {
    try (Scope scope = storage.attach(sampled(0xabc))) {
      assertThat(now()).isEqualTo(ids(0xabc));
    }
    assertThat(now()).isNull();
  }

  @Test
  void unsampledSpanAndNoSpan_areNotReported() {
    try (Scope scope = storage.attach(unsampled(1))) {
      assertThat(now()).isNull();
    }
    assertThat(table.puts).hasValue(0);
    try (Scope scope = storage.attach(sampled(2))) {
      try (Scope inner = storage.attach(unsampled(3))) {
        assertThat(now()).isNull();
      }
      assertThat(now()).isEqualTo(ids(2));
      try (Scope inner = storage.attach(Context.root())) {
        assertThat(now()).isNull();
      }
      assertThat(now()).isEqualTo(ids(2));
    }
  }

  @Test
  void nestedSpans_areRestoredOneByOne() {
    List<Scope> scopes = new ArrayList<>();
    for (int span = 1; span <= 5; span++) {
      scopes.add(storage.attach(sampled(span)));
      assertThat(now()).isEqualTo(ids(span));
    }
    for (int span = 5; span > 1; span--) {
      scopes.get(span - 1).close();
      assertThat(now()).isEqualTo(ids(span - 1));
    }
    scopes.get(0).close();
    assertThat(now()).isNull();
  }

  @Test
  void scopesClosedTwiceOrOutOfOrder_leaveWhatIsCurrent() {
    Scope outer = storage.attach(sampled(1));
    Scope inner = storage.attach(sampled(2));

    outer.close();
    assertThat(now()).isEqualTo(shownByStorage());
    inner.close();
    inner.close();
    assertThat(now()).isEqualTo(shownByStorage());
    outer.close();

    assertThat(now()).isNull();
    assertThat(storage.current()).isNull();
  }

  private @Nullable String shownByStorage() {
    Context context = storage.current();
    return context == null
        ? null
        : TRACE + "-" + Span.fromContext(context).getSpanContext().getSpanId();
  }

  @Test
  void scopeClosedByAnotherThread_changesNothingThere() throws Exception {
    try (Scope mine = storage.attach(sampled(1))) {
      Thread other =
          Thread.ofPlatform()
              .start(
                  () -> {
                    Scope theirs = storage.attach(sampled(2));
                    mine.close();
                    assertThat(now()).isEqualTo(ids(2));
                    theirs.close();
                  });
      other.join();

      assertThat(now()).isEqualTo(ids(1));
    }
    assertThat(now()).isNull();
  }

  @Test
  void virtualThreads_areNeverReported() throws Exception {
    List<Future<?>> all = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 1; i <= 100; i++) {
        int span = i;
        all.add(
            executor.submit(
                () -> {
                  try (Scope scope = storage.attach(sampled(span))) {
                    assertThat(table.slots).isEmpty();
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get(10, TimeUnit.SECONDS);
      }
    }
    assertThat(table.puts).hasValue(0);
  }

  @Test
  void listener_isCalledForEveryChange() {
    List<String> heard = new ArrayList<>();
    threads.close();
    FakeThreadMap own = new FakeThreadMap(4);
    ContextListener listener =
        new ContextListener() {
          @Override
          public void published(int tid, long high, long low, long span) {
            heard.add("%016x%016x-%016x".formatted(high, low, span));
          }

          @Override
          public void cleared(int tid) {
            heard.add("none");
          }
        };
    try (OwnThreads heardOf = ownThreads(own, listener)) {
      assertThat(PublishingContextStorage.start(heardOf)).isTrue();
      Scope outer = storage.attach(sampled(1));
      storage.attach(sampled(2)).close();
      outer.close();
    }

    assertThat(heard).containsExactly(ids(1), ids(2), ids(1), "none");
  }

  @Test
  void misorderedCloses_neverPublishWhatIsNotCurrent() throws Exception {
    try (ExecutorService another = Executors.newSingleThreadExecutor()) {
      another.submit(this::carelessWork).get(30, TimeUnit.SECONDS);
    }
  }

  private void carelessWork() {
    Random random = new Random(7);
    List<Scope> all = new ArrayList<>();
    for (int step = 0; step < 5_000; step++) {
      int span = 1 + random.nextInt(3);
      switch (random.nextInt(3)) {
        case 0 -> all.add(storage.attach(sampled(span)));
        case 1 -> all.add(storage.attach(unsampled(span)));
        default -> {
          if (!all.isEmpty()) {
            all.get(all.size() - 1 - random.nextInt(Math.min(all.size(), 6))).close();
          }
        }
      }
      assertThat(now()).isEqualTo(shouldBe());
    }
  }

  @Test
  void threadPools_neverPublishAnotherRequestsContext() throws Exception {
    int workers = 4;
    List<Thread> pooled = new CopyOnWriteArrayList<>();
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(workers, remembering(pooled))) {
      for (int task = 0; task < 400; task++) {
        long seed = task;
        running.add(pool.submit(() -> randomWork(new Random(seed))));
      }
      for (Future<?> one : running) {
        one.get(30, TimeUnit.SECONDS);
      }
    }
    for (Thread thread : pooled) {
      thread.join();
    }
    threads.sweep();
    assertThat(table.slots).isEmpty();
  }

  private static ThreadFactory remembering(List<Thread> made) {
    return work -> {
      Thread thread = new Thread(work);
      made.add(thread);
      return thread;
    };
  }

  /**
   * After every step, the kernel sees the current context of OpenTelemetry, or nothing if that is
   * not sampled.
   */
  private void randomWork(Random random) {
    List<Scope> scopes = new ArrayList<>();
    for (int step = 0; step < 200; step++) {
      int span = 1 + random.nextInt(1_000);
      switch (scopes.isEmpty() ? 0 : random.nextInt(4)) {
        case 0 -> scopes.add(storage.attach(sampled(span)));
        case 1 -> scopes.add(storage.attach(unsampled(span)));
        default -> scopes.remove(scopes.size() - 1).close();
      }
      assertThat(now()).isEqualTo(shouldBe());
    }
    while (!scopes.isEmpty()) {
      scopes.remove(scopes.size() - 1).close();
    }
    assertThat(now()).isNull();
  }

  private @Nullable String shouldBe() {
    Context context = storage.current();
    if (context == null) {
      return null;
    }
    SpanContext span = Span.fromContext(context).getSpanContext();
    return span.isSampled() ? TRACE + "-" + span.getSpanId() : null;
  }
}
