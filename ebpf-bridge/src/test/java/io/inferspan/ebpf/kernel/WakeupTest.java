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

/**
 * When the kernel calls the ring's reader: once much waits, or at once if the reader wants that.
 */
class WakeupTest {

  private static final String EPOLL_PWAIT = "281 ";
  private static final long MARK_BYTES = 64 << 10;
  private static final int LONG_MILLIS = 15_000;
  private static final int TRIES = 5;

  @Test
  void reader_isWokenByMuchAndNotByLittle() throws Exception {
    assumeTrue(SystemView.architecture().equals("amd64"), "knows the number of a system call");
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      RingReader ring = new RingReader(memory);
      kernel.settings.readerDoes(ReaderState.WAITS);
      long backlog = 0;
      // Another process may start or end just before the wait, which is an event as well.
      for (int i = 0; i < TRIES && backlog < MARK_BYTES / 2; i++) {
        backlog = backlogAtWakeup(kernel, ring, epoll);
      }

      assertThat(backlog).isBetween(MARK_BYTES / 2, 3 * MARK_BYTES);
    }
  }

  @Test
  void readerThatSleeps_isWokenByTheFirst() throws Exception {
    assumeTrue(SystemView.architecture().equals("amd64"), "knows the number of a system call");
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      kernel.settings.readerDoes(ReaderState.SLEEPS);

      assertThat(firstAfter(kernel, new RingReader(memory), epoll)).isTrue();
    }
  }

  @Test
  void readerThatSleeps_isNotCalledForAnEndButForWhatFollowsIt() throws Exception {
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      RingReader ring = new RingReader(memory);
      boolean onlyAnEnd = false;
      // Another process may begin meanwhile, which calls.
      for (int i = 0; i < TRIES && !onlyAnEnd; i++) {
        Process child = beginning(ring);
        epoll.await(0);
        kernel.settings.readerDoes(ReaderState.SLEEPS);
        child.destroyForcibly().waitFor();
        Eventually.is("its end", () -> ring.backlogBytes() > 0);
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

  /** A process of which the reader has read that it began. */
  private static Process beginning(RingReader ring) throws IOException {
    Process child = new ProcessBuilder("sleep", "60").start();
    AtomicBoolean began = new AtomicBoolean();
    Eventually.is(
        "its begin",
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
  void readerThatLooksByItself_isNotCalled() throws Exception {
    try (LoadedKernel kernel = LoadedKernel.start();
        RingMemory memory = RingMemory.map(kernel.side.ringFd(), kernel.side.ringBytes());
        Epoll epoll = Epoll.watching(kernel.side.ringFd())) {
      RingReader ring = new RingReader(memory);
      ring.drain(view -> {});
      // Had it anything to tell, it would at once: this takes what is ready already.
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

  /** Whether one event alone wakes a reader that found nothing. */
  private static boolean firstAfter(LoadedKernel kernel, RingReader ring, Epoll epoll)
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

  /** How much waits when a reader that found nothing is woken; it reads nothing meanwhile. */
  private static long backlogAtWakeup(LoadedKernel kernel, RingReader ring, Epoll epoll)
      throws Exception {
    ring.drain(view -> {});
    AtomicInteger tid = new AtomicInteger();
    CompletableFuture<Long> woken = new CompletableFuture<>();
    Thread reader =
        Thread.ofPlatform()
            .start(
                () -> {
                  tid.set(Threads.currentTid());
                  woken.complete(epoll.await(LONG_MILLIS) ? ring.backlogBytes() : -1);
                });
    Eventually.is("the reader to wait", () -> woken.isDone() || waits(tid.get()));
    Thread writer = Thread.ofPlatform().start(() -> readUntil(kernel, woken));
    long backlog = woken.get(2L * LONG_MILLIS, TimeUnit.MILLISECONDS);
    reader.join();
    writer.join();
    return backlog;
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

  /** Each read is an event. */
  private static void readUntil(LoadedKernel kernel, CompletableFuture<Long> woken) {
    kernel.publish();
    try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
      while (!woken.isDone()) {
        zeros.read();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
