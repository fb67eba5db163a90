package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.kernel.Identity;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.KernelPlan;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.kernel.OwnMemory;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.OpenFiles;
import io.inferspan.ebpf.linux.SystemView;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Detaching and attaching probes repeatedly, in the kernel. */
class ProbeReattachIT {

  private static final int CYCLES = 100;
  private static final int FAMILIES =
      KernelSettings.CUDA | KernelSettings.SCHED | KernelSettings.SYSCALLS;
  private static final String TRACEPARENT =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final DetailLevels OFF =
      DetailLevels.FULL
          .with(EventClass.SCHED, DetailLevel.DETACHED)
          .with(EventClass.LAUNCHES, DetailLevel.DETACHED);

  private KernelSide kernel;
  private KernelSettings settings;

  @BeforeEach
  void load() {
    TestKit.directory();
    kernel =
        KernelSide.load(
            new KernelPlan(
                Set.of(KernelSide.CALLS, KernelSide.CKP, "sched", "tcp"),
                1 << 20,
                KernelFeatures.probe(),
                SystemView.live().kernel(),
                KernelPlan.Sharing.none()));
    settings = kernel.settings();
  }

  @AfterEach
  void close() {
    if (kernel != null) {
      kernel.close();
    }
  }

  private void begin(int selfTgid) {
    settings.begin(
        new KernelSettings.Options(FAMILIES, true, selfTgid, 0, KernelSettings.Cgroup.any()));
  }

  private void pause() {
    settings.setLevels(OFF);
    kernel.setTcp(false);
    kernel.detach(EventClass.SCHED);
    kernel.detach(EventClass.LAUNCHES);
  }

  /** Attaches the probes again, and returns the time from which on their events count. */
  private long resume() {
    kernel.setTcp(true);
    kernel.attach(EventClass.SCHED);
    kernel.attach(EventClass.LAUNCHES);
    long since = Clocks.monotonicNanos();
    settings.attached(EventClass.SCHED, since);
    settings.attached(EventClass.LAUNCHES, since);
    settings.setLevels(DetailLevels.FULL);
    return since;
  }

  private JavaChild load(String seconds, String... more) {
    List<String> command = new ArrayList<>(List.of(TestKit.directory() + "/load", seconds));
    command.addAll(List.of(more));
    JavaChild child = JavaChild.start(command, Map.of());
    Eventually.is("the library", () -> isExamined(child));
    return child;
  }

  private boolean isExamined(JavaChild child) {
    kernel.libraries().forEach(each -> each.look((int) child.pid()));
    return kernel.libraries().stream()
        .flatMap(each -> each.libraries().stream())
        .anyMatch(library -> library.outcome().startsWith("libcuda.so.1"));
  }

  @Test
  void hundredCycles_leaveNothingBehind() throws IOException {
    begin(0);
    try (JavaChild keeper = load("120", "1", "", "10")) {
      pause();
      resume();
      KernelObjects held = KernelObjects.of(ProcessHandle.current().pid());
      int files = OpenFiles.count();
      KernelObjects made = new KernelObjects(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
      long[] took = new long[CYCLES];
      for (int i = 0; i < CYCLES; i++) {
        pause();
        long start = System.nanoTime();
        resume();
        took[i] = System.nanoTime() - start;
        made.links().addAll(KernelObjects.of(ProcessHandle.current().pid()).links());
      }
      Arrays.sort(took);
      System.out.printf(
          "waking: median %.1f ms, most %.1f ms%n", took[CYCLES / 2] / 1e6, took[CYCLES - 1] / 1e6);
      KernelObjects now = KernelObjects.of(ProcessHandle.current().pid());

      assertThat(made.links()).hasSizeGreaterThan(5 * CYCLES);
      assertThat(now.links()).hasSameSizeAs(held.links());
      assertThat(now.programs()).isEqualTo(held.programs());
      assertThat(now.maps()).isEqualTo(held.maps());
      assertThat(OpenFiles.count()).isLessThanOrEqualTo(files);
      made.links().removeAll(now.links());
      TestKit.await("the kernel to free all objects", () -> made.alive().isEmpty());
      assertThat(kernel.programs()).allMatch(state -> state.inPlace());
    }
  }

  /** Detaches and attaches probes during a request under full load, which a bridge never does. */
  @Test
  void probesAreReattachedUnderLoad_everyEventIsAccountedFor() {
    begin(0);
    AtomicLong read = new AtomicLong();
    AtomicLong launches = new AtomicLong();
    try (JavaChild keeper = load("120", "1", "", "10");
        RingMemory memory = RingMemory.map(kernel.ringFd(), kernel.ringBytes())) {
      RingReader ring = new RingReader(memory);
      try (JavaChild flood = load("60", "2", TRACEPARENT, "0", "launch")) {
        for (int i = 0; i < 20; i++) {
          pause();
          drain(ring, read, launches);
          resume();
          long before = launches.get();
          // Shows that the probes are attached again.
          TestKit.await(
              "launches",
              () -> {
                drain(ring, read, launches);
                return launches.get() > before;
              });
        }
        kernel.detach();
        settings.stop();
        flood.kill();
      }
      Eventually.is(
          "the last event",
          () -> {
            drain(ring, read, launches);
            return read.get() + kernel.counters().lost(KernelLoss.RING_FULL)
                == kernel.counters().produced();
          });
    }
    assertThat(launches.get()).isGreaterThan(1_000);
  }

  private static void drain(RingReader ring, AtomicLong read, AtomicLong launches) {
    ring.drain(
        event -> {
          read.incrementAndGet();
          if (event.kind() == Kind.CUDA_LAUNCH.number()) {
            launches.incrementAndGet();
          }
        });
  }

  /** While the probes were detached, the thread ran and left the CPU again. */
  @Test
  void threadRunsWhileDetached_offCpuTimeDoesNotSpanThePause() throws InterruptedException {
    Identity identity = kernel.identity();
    OwnMemory own = kernel.ownMemory();
    begin(identity.tgid());
    SynchronousQueue<String> orders = new SynchronousQueue<>();
    AtomicLong tid = new AtomicLong();
    AtomicInteger taken = new AtomicInteger();
    List<Away> seen = new ArrayList<>();
    try (RingMemory memory = RingMemory.map(kernel.ringFd(), kernel.ringBytes())) {
      RingReader ring = new RingReader(memory);
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    tid.set(publish(identity, own));
                    waitThreeTimes(orders, taken);
                  });
      awaitWaiting(thread, taken, 0);
      pause();
      long paused = Clocks.monotonicNanos();
      orders.put("come and go");
      awaitWaiting(thread, taken, 1);
      // A thread whose Java state is WAITING may not have left the CPU yet.
      long resumed = resume();
      orders.put("come");
      awaitWaiting(thread, taken, 2);
      orders.put("end");
      thread.join();
      Eventually.is(
          "the last wait", () -> offCpu(ring, tid.get(), seen).anyMatch(away -> away.to > resumed));

      // Before the pause, the thread may also have been off the CPU, such as to load a class.
      assertThat(seen).allMatch(away -> away.from >= resumed || away.to <= paused);
    }
  }

  /** Attributes the calling thread's work to a trace from now on. */
  private static int publish(Identity identity, OwnMemory own) {
    ByteBuffer record = own.contexts();
    record.putLong(8, 0x1111111111111111L);
    record.putLong(24, 0x2222222222222222L);
    record.putLong(0, Long.reverseBytes(1L));
    int tid = identity.currentTid();
    own.put(tid, 1);
    return tid;
  }

  private static void waitThreeTimes(SynchronousQueue<String> orders, AtomicInteger taken) {
    try {
      for (int i = 0; i < 3; i++) {
        orders.take();
        taken.incrementAndGet();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitWaiting(Thread thread, AtomicInteger taken, int orders) {
    Eventually.is(
        "the thread to wait",
        () -> taken.get() == orders && thread.getState() == Thread.State.WAITING);
  }

  private record Away(long from, long to) {}

  private static Stream<Away> offCpu(RingReader ring, long tid, List<Away> seen) {
    ring.drain(
        event -> {
          if (event.kind() == Kind.SCHED_OFFCPU.number() && event.tid() == tid) {
            seen.add(new Away(event.startNanos(), event.endNanos()));
          }
        });
    return seen.stream();
  }
}
