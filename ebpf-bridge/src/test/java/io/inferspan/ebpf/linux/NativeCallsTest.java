package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NativeCallsTest {

  private static final int PAGE = 4096;

  /** A number above those of the descriptors in use. */
  private static final int UNUSED = 1_000;

  @Test
  void sharedMappings_showTheSameMemory() {
    try (FileDescriptor file = memoryFile();
        Mapping written = Mapping.shared(file.number(), 0, PAGE, true);
        Mapping read = Mapping.shared(file.number(), 0, PAGE, false)) {
      written.memory().set(JAVA_INT, 8, 42);

      assertThat(read.memory().get(JAVA_INT, 8)).isEqualTo(42);
    }
  }

  @Test
  void mappingOfAClosedDescriptor_staysUsable() {
    FileDescriptor file = memoryFile();
    try (Mapping mapping = Mapping.shared(file.number(), 0, PAGE, true)) {
      file.close();
      mapping.memory().set(JAVA_INT, 0, 7);

      assertThat(mapping.memory().get(JAVA_INT, 0)).isEqualTo(7);
    }
  }

  @Test
  void closedMapping_throwsRatherThanCrashes() {
    Mapping mapping = Mapping.anonymous(PAGE);
    mapping.close();
    mapping.close();

    assertThatThrownBy(() -> mapping.memory().get(JAVA_INT, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusedEpoll_leavesNoDescriptorOpen() throws IOException {
    assertThatThrownBy(() -> Epoll.watching(-1)).hasMessageContaining("EBADF");
    int files = OpenFiles.count();

    assertThatThrownBy(() -> Epoll.watching(-1)).hasMessageContaining("EBADF");

    // Other threads may have closed files meanwhile.
    assertThat(OpenFiles.count()).isLessThanOrEqualTo(files);
  }

  @Test
  void refusedMapping_isReportedWithItsError() {
    assertThatThrownBy(() -> Mapping.shared(-1, 0, PAGE, false))
        .isInstanceOf(SystemCallException.class)
        .hasMessage("mapping 4096 bytes failed: EBADF (bad file descriptor)");
  }

  @Test
  void epoll_endsItsWaitIfTheDescriptorIsReadable() {
    try (FileDescriptor event = new FileDescriptor(c("eventfd").callInt(0, 0));
        Epoll epoll = Epoll.watching(event.number())) {
      assertThat(epoll.await(0)).isFalse();

      c("eventfd_write").callInt(event.number(), 1);

      assertThat(epoll.await(1000)).isTrue();
    }
  }

  @Test
  void epoll_waitsUntilItsTimeout() {
    try (FileDescriptor event = new FileDescriptor(c("eventfd").callInt(0, 0));
        Epoll epoll = Epoll.watching(event.number())) {
      long began = System.nanoTime();

      assertThat(epoll.await(20)).isFalse();

      assertThat(System.nanoTime() - began).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(19));
    }
  }

  @Test
  void closedEpoll_leavesNoDescriptor() throws IOException {
    try (FileDescriptor event = new FileDescriptor(c("eventfd").callInt(0, 0))) {
      Epoll.watching(event.number()).close();
      int before = OpenFiles.count();
      for (int i = 0; i < 50; i++) {
        Epoll epoll = Epoll.watching(event.number());
        epoll.close();
        epoll.close();
      }

      // Other threads may have closed files meanwhile.
      assertThat(OpenFiles.count()).isLessThanOrEqualTo(before);
    }
  }

  @Test
  void descriptorClosedTwice_leavesItsSuccessorOpen() {
    FileDescriptor first = memoryFileAt(UNUSED);
    first.close();
    try (FileDescriptor second = memoryFileAt(UNUSED)) {
      first.close();

      assertThat(Path.of("/proc/self/fd", Integer.toString(second.number()))).isSymbolicLink();
    }
  }

  @Test
  void tid_isThatOfTheKernel() throws IOException {
    Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));

    assertThat(Threads.currentTid()).isEqualTo(Integer.parseInt(self.getFileName().toString()));
  }

  @Test
  void threads_haveDifferentTids() throws InterruptedException {
    AtomicInteger other = new AtomicInteger();
    Thread thread = Thread.ofPlatform().start(() -> other.set(Threads.currentTid()));
    thread.join();

    assertThat(other.get()).isPositive().isNotEqualTo(Threads.currentTid());
  }

  @Test
  void virtualThread_hasTheTidOfItsCarrier() throws InterruptedException {
    AtomicInteger carrier = new AtomicInteger();
    Thread thread = Thread.ofVirtual().start(() -> carrier.set(Threads.currentTid()));
    thread.join();

    assertThat(carrier.get()).isPositive().isNotEqualTo(Threads.currentTid());
  }

  @Test
  void realtime_isTheTimeOfInstantNow() {
    long nanos = Clocks.realtimeNanos();
    Instant now = Instant.now();

    assertThat(Instant.EPOCH.plusNanos(nanos)).isCloseTo(now, within(1, ChronoUnit.SECONDS));
  }

  @Test
  void clocks_doNotGoBackward() {
    long monotonic = Clocks.monotonicNanos();
    long boottime = Clocks.boottimeNanos();

    assertThat(Clocks.monotonicNanos()).isGreaterThanOrEqualTo(monotonic);
    assertThat(boottime).isGreaterThanOrEqualTo(monotonic);
  }

  @Test
  void failedSystemCall_returnsTheNegatedErrorNumber() {
    long result = SystemCall.CLOSE.call(-1);

    assertThat(Errno.isError(result)).isTrue();
    assertThat(Errno.EBADF.is(result)).isTrue();
    assertThat(Errno.isError(0)).isFalse();
    assertThat(Errno.isError(-5000)).isFalse();
  }

  @Test
  void errors_haveTheNumbersOfTheKernel() {
    for (Errno errno : Errno.values()) {
      if (errno != Errno.ENOTSUPP) {
        long name = c("strerrorname_np").callLong(errno.number());
        assertThat(name).as("known to the C library").isNotZero();
        assertThat(Memory.string(name)).isEqualTo(errno.name());
      }
    }
    assertThat(Errno.describe(4000)).isEqualTo("error 4000");
  }

  @Test
  void absentLibrary_isNull() {
    assertThat(NativeLibrary.open("libinferspan-does-not-exist.so.1")).isNull();
  }

  private static FileDescriptor memoryFile() {
    try (Arena arena = Arena.ofConfined()) {
      int fd = c("memfd_create").callInt(arena.allocateFrom("test").address(), 0);
      c("ftruncate").callInt(fd, PAGE);
      return new FileDescriptor(fd);
    }
  }

  /** Opens a file at a number that no other file gets, because the kernel assigns the lowest. */
  private static FileDescriptor memoryFileAt(int number) {
    try (FileDescriptor file = memoryFile()) {
      return new FileDescriptor(c("dup2").callInt(file.number(), number));
    }
  }

  private static NativeFunction c(String function) {
    return NativeLibrary.c().function(function);
  }
}
