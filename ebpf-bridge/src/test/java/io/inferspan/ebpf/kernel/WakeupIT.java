package io.inferspan.ebpf.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.Eventually;
import io.inferspan.ebpf.linux.Epoll;
import io.inferspan.ebpf.linux.SystemView;
import io.inferspan.ebpf.linux.Threads;
import io.inferspan.ebpf.ring.ReaderState;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.wire.Kind;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Wake-ups of the ring's reader: once much data is pending, or at the first record. */
class WakeupIT {

  private static final String EPOLL_PWAIT = "281 ";
  private static final long MARK_BYTES = 64 << 10;
  private static final int LONG_MILLIS = 15_000;
  private static final int TRIES = 5;

  @Test
  void waitingReader_isWokenOnceMuchDataIsPending() throws Exception {
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      kernel.settings.setReaderState(ReaderState.WAITS);

      assertThat(backlogAtWakeup(kernel, new RingReader(memory), epoll))
          .isBetween(MARK_BYTES / 2, 3 * MARK_BYTES);
    }
  }

  @Test
  void sleepingReader_isWokenByTheFirstRecord() throws Exception {
    assumeTrue(SystemView.architecture().equals("amd64"), "needs x86-64");
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      kernel.settings.setReaderState(ReaderState.SLEEPS);

      assertThat(isWokenByOneRecord(kernel, new RingReader(memory), epoll)).isTrue();
    }
  }

  @Test
  void sleepingReader_isNotWokenForAnExitButForTheNextRecord() throws Exception {
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      RingReader ring = new RingReader(memory);
      boolean onlyAnEnd = false;
      // Repeated, because another process that starts meanwhile wakes the reader.
      for (int i = 0; i < TRIES && !onlyAnEnd; i++) {
        Process child = started(ring);
        epoll.await(0);
        kernel.settings.setReaderState(ReaderState.SLEEPS);
        child.destroyForcibly().waitFor();
        Eventually.is("the record of the exit", () -> ring.backlogBytes() > 0);
        onlyAnEnd = !epoll.await(0);
      }
      assertThat(onlyAnEnd).isTrue();

      Process next = new ProcessBuilder("sleep", "60").start();
      assertThat(epoll.await(LONG_MILLIS)).isTrue();
      next.destroyForcibly().waitFor();
      Set<Integer> kinds = new HashSet<>();
      ring.drain(event -> kinds.add(event.kind()));
      assertThat(kinds).contains(Kind.PROCESS_EXITED.number(), Kind.PROCESS_STARTED.number());
    }
  }

  /** Starts a process, and returns it once the reader has read the record of its start. */
  private static Process started(RingReader ring) throws IOException {
    Process child = new ProcessBuilder("sleep", "60").start();
    AtomicBoolean began = new AtomicBoolean();
    Eventually.is(
        "the record of the start",
        () -> {
          ring.drain(
              event -> {
                if (event.kind() == Kind.PROCESS_STARTED.number()
                    && event.text().endsWith("/sleep")
                    && event.tgid() == child.pid()) {
                  began.set(true);
                }
              });
          return began.get();
        });
    return child;
  }

  @Test
  void pollingReader_isNotWoken() throws Exception {
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      RingReader ring = new RingReader(memory);
      ring.drain(view -> {});
      // Consumes a wake-up that is already pending.
      epoll.await(0);
      kernel.publish();
      try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
        while (ring.backlogBytes() < 2 * MARK_BYTES) {
          zeros.read();
        }
      }

      assertThat(epoll.await(0)).isFalse();
    }
  }

  /** Returns whether a single event wakes a reader that found nothing. */
  private static boolean isWokenByOneRecord(LoadedKernel kernel, RingReader ring, Epoll epoll)
      throws Exception {
    AtomicInteger tid = new AtomicInteger();
    ring.drain(view -> {});
    CompletableFuture<Boolean> woken =
        CompletableFuture.supplyAsync(
            () -> {
              tid.set(Threads.currentTid());
              return epoll.await(LONG_MILLIS);
            },
            command -> Thread.ofPlatform().start(command));
    Eventually.is("the reader to wait", () -> woken.isDone() || waits(tid.get()));
    Thread writer = Thread.ofPlatform().start(() -> readOnce(kernel));
    writer.join();
    return woken.get(2L * LONG_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static void readOnce(LoadedKernel kernel) {
    kernel.publish();
    try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
      zeros.read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns how many bytes are pending when a waiting reader is woken. This thread causes the
   * events, one per system call, so that none arrives between the wake-up and the check.
   */
  private static long backlogAtWakeup(LoadedKernel kernel, RingReader ring, Epoll epoll)
      throws IOException {
    do {
      ring.drain(view -> {});
    } while (epoll.await(0));
    kernel.publish();
    try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
      while (!epoll.await(0) && ring.backlogBytes() < 8 * MARK_BYTES) {
        zeros.read();
      }
    }
    return ring.backlogBytes();
  }

  private static boolean waits(int tid) {
    try {
      return tid != 0
          && Files.readString(Path.of("/proc/self/task/" + tid + "/syscall"))
              .startsWith(EPOLL_PWAIT);
    } catch (IOException gone) {
      return false;
    }
  }
}
