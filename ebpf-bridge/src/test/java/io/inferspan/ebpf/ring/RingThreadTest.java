package io.inferspan.ebpf.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingThreadTest {

  private static final byte[] EVENT = EventBytes.of(Kind.CUDA_LAUNCH).bytes();

  private final Arena arena = Arena.ofShared();
  private final RingWriter kernel = new RingWriter(arena, 1 << 17);
  private final RingReader reader = new RingReader(kernel.memory());
  private final Semaphore wakeUp = new Semaphore(0);

  @AfterEach
  void free() {
    arena.close();
  }

  private boolean await(int timeoutMillis) {
    try {
      return wakeUp.tryAcquire(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Test
  void events_reachTheHandler() throws Exception {
    CountDownLatch arrived = new CountDownLatch(3);
    try (RingThread ring = RingThread.start(reader, event -> arrived.countDown(), this::await)) {
      for (int i = 0; i < 3; i++) {
        kernel.write(EVENT);
      }

      assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(ring.failures()).isZero();
    }
  }

  @Test
  void remainingEvents_areReadAtTheEnd() throws Exception {
    AtomicInteger events = new AtomicInteger();
    CountDownLatch waits = new CountDownLatch(1);
    RingThread ring =
        RingThread.start(
            reader,
            event -> events.incrementAndGet(),
            millis -> {
              waits.countDown();
              return awaitLong();
            });
    assertThat(waits.await(10, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < 100; i++) {
      kernel.write(EVENT);
    }

    Thread closer = Thread.ofPlatform().start(ring::close);
    while (closer.getState() != Thread.State.TIMED_WAITING && closer.isAlive()) {
      Thread.onSpinWait();
    }
    wakeUp.release();
    closer.join();

    assertThat(events).hasValue(100);
  }

  private boolean awaitLong() {
    return await(20_000);
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class})
  void failingHandler_isCountedAndCalledAgain(Class<? extends Throwable> failure) throws Exception {
    CountDownLatch good = new CountDownLatch(1);
    EventHandler handler =
        new EventHandler() {
          private boolean failed;

          @Override
          public void event(EventView view) {
            if (!failed) {
              failed = true;
              throwUnchecked(failure);
            }
            good.countDown();
          }
        };
    try (RingThread ring = RingThread.start(reader, handler, this::await)) {
      kernel.write(EVENT);
      kernel.write(EVENT);

      assertThat(good.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(ring.failures()).isOne();
    }
  }

  private static void throwUnchecked(Class<? extends Throwable> failure) {
    try {
      Throwable thrown = failure.getConstructor().newInstance();
      if (thrown instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) thrown;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("the failure cannot be created", e);
    }
  }

  @Test
  void hangingHandler_doesNotBlockClose() {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    RingThread ring =
        RingThread.start(
            reader,
            event -> {
              entered.countDown();
              try {
                release.await(20, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            this::await);
    kernel.write(EVENT);
    try {
      assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();

      assertThat(ring.close(Duration.ofMillis(50))).isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      release.countDown();
      ring.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void idleThread_waitsWithTheLongestTimeout(boolean handlerRests) throws Exception {
    EventHandler handler =
        new EventHandler() {
          @Override
          public void event(EventView view) {}

          @Override
          public boolean isAtRest() {
            return handlerRests;
          }
        };
    List<Integer> timeouts = new CopyOnWriteArrayList<>();
    CountDownLatch enough = new CountDownLatch(1);
    RingThread.Readiness immediateTimeouts =
        millis -> {
          if (timeouts.size() < 30) {
            timeouts.add(millis);
            return false;
          }
          enough.countDown();
          return await(millis);
        };
    try (RingThread ring = RingThread.start(reader, handler, immediateTimeouts)) {
      assertThat(enough.await(10, TimeUnit.SECONDS)).isTrue();
      // 256 ms: at most 4 reads per second.
      assertThat(timeouts.subList(10, 30)).containsOnly(256);
      assertThat(ring.failures()).isZero();
    }
  }

  /** Programs wake the thread at 64 KiB, when a ring of that size is full. */
  @Test
  void smallRing_isReadMoreOften() throws Exception {
    RingWriter small = new RingWriter(arena, 1 << 16);
    List<Integer> timeouts = new CopyOnWriteArrayList<>();
    CountDownLatch enough = new CountDownLatch(1);
    RingThread.Readiness fewEvents =
        millis -> {
          if (timeouts.size() >= 30) {
            enough.countDown();
            return await(millis);
          }
          timeouts.add(millis);
          return timeouts.size() < 15 && small.write(EVENT);
        };
    try (RingThread ring =
        RingThread.start(new RingReader(small.memory()), event -> {}, fewEvents)) {
      assertThat(enough.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(timeouts).endsWith(64, 64).contains(32).allMatch(millis -> millis <= 64);
      assertThat(ring.failures()).isZero();
    }
  }

  @Test
  void pause_growsWithFewEventsAndShrinksWithMany() throws Exception {
    List<Integer> pauses = new CopyOnWriteArrayList<>();
    List<ReaderState> states = new CopyOnWriteArrayList<>();
    List<ReaderState> during = new CopyOnWriteArrayList<>();
    CountDownLatch enough = new CountDownLatch(1);
    Readiness steadyFlow =
        new Readiness(states::add) {
          @Override
          public boolean await(int timeoutMillis) {
            if (pauses.size() >= 24) {
              enough.countDown();
              return super.await(timeoutMillis);
            }
            pauses.add(timeoutMillis);
            during.add(states.getLast());
            // A pause shrinks if more than 8 KiB arrive, a sixteenth of the ring.
            for (int i = 0; i < (pauses.size() < 12 ? 1 : 200); i++) {
              kernel.write(EVENT);
            }
            return false;
          }
        };
    kernel.write(EVENT);
    try (RingThread ring = RingThread.start(reader, event -> {}, steadyFlow)) {
      assertThat(enough.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(pauses.subList(0, 8)).containsExactly(2, 4, 8, 16, 32, 64, 128, 256);
      assertThat(pauses.subList(12, 20)).containsExactly(128, 64, 32, 16, 8, 4, 2, 1);
      assertThat(during.subList(0, 19)).containsOnly(ReaderState.WAITS);
      assertThat(during.subList(19, 23)).containsOnly(ReaderState.LOOKS);
      assertThat(ring.failures()).isZero();
    }
  }

  @Test
  void idleThread_isWokenByTheFirstEvent() throws Exception {
    AtomicBoolean slept = new AtomicBoolean();
    CountDownLatch waiting = new CountDownLatch(1);
    CountDownLatch arrived = new CountDownLatch(1);
    // The kernel wakes a sleeping reader for one event, but not a waiting one.
    Readiness wakingKernel =
        new Readiness(
            state -> {
              if (state == ReaderState.SLEEPS) {
                slept.set(true);
              }
            }) {
          @Override
          public boolean await(int timeoutMillis) {
            // Data that was written before this call needs no wake-up.
            waiting.countDown();
            return awaitLong();
          }
        };
    try (RingThread ring = RingThread.start(reader, atRest(arrived::countDown), wakingKernel)) {
      assertThat(waiting.await(10, TimeUnit.SECONDS)).isTrue();
      kernel.write(EVENT);
      wakeUp.release();

      assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(slept).isTrue();
      // The wake-up ended the wait, not the timeout.
      assertThat(wakeUp.availablePermits()).isZero();
      assertThat(ring.failures()).isZero();
      wakeUp.release(100);
    }
  }

  @Test
  void eventThatArrivesAsTheThreadFallsAsleep_isRead() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    AtomicInteger waitsWithEvent = new AtomicInteger();
    RingThread.Readiness before =
        new Readiness(
            state -> {
              if (state == ReaderState.SLEEPS && arrived.getCount() > 0) {
                kernel.write(EVENT);
              }
            }) {
          @Override
          public boolean await(int timeoutMillis) {
            waitsWithEvent.addAndGet(reader.backlogBytes() > 0 ? 1 : 0);
            return super.await(timeoutMillis);
          }
        };
    try (RingThread ring = RingThread.start(reader, atRest(arrived::countDown), before)) {
      assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(waitsWithEvent).hasValue(0);
      assertThat(ring.failures()).isZero();
    }
  }

  @Test
  void handlerThatIsNotAtRest_keepsTheThreadFromSleeping() throws Exception {
    Set<ReaderState> states = ConcurrentHashMap.newKeySet();
    CountDownLatch reads = new CountDownLatch(12);
    EventHandler busy =
        new EventHandler() {
          @Override
          public void event(EventView view) {}

          @Override
          public void drained() {
            reads.countDown();
          }
        };
    try (RingThread ring = RingThread.start(reader, busy, new Readiness(states::add))) {
      // The waits have grown to the longest by the seventh read.
      assertThat(reads.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(states).containsOnly(ReaderState.WAITS, ReaderState.LOOKS);
      assertThat(ring.failures()).isZero();
    }
  }

  private static EventHandler atRest(Runnable event) {
    return new EventHandler() {
      @Override
      public void event(EventView view) {
        event.run();
      }

      @Override
      public boolean isAtRest() {
        return true;
      }
    };
  }

  /** Waits for the test's wake-ups, and reports the states that the thread publishes. */
  private class Readiness implements RingThread.Readiness {

    private final Consumer<ReaderState> states;

    Readiness(Consumer<ReaderState> states) {
      this.states = states;
    }

    @Override
    public boolean await(int timeoutMillis) {
      return RingThreadTest.this.await(timeoutMillis);
    }

    @Override
    public void setReaderState(ReaderState state) {
      states.accept(state);
    }
  }
}
