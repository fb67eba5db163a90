package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.coldstart.ThreadState.DEVICE;
import static io.inferspan.ebpf.coldstart.ThreadState.DISK_OR_FAULT;
import static io.inferspan.ebpf.coldstart.ThreadState.FUTEX_PIPE_SOCKET;
import static io.inferspan.ebpf.coldstart.ThreadState.ON_CPU_KERNEL;
import static io.inferspan.ebpf.coldstart.ThreadState.ON_CPU_USER;
import static io.inferspan.ebpf.coldstart.ThreadState.RUN_QUEUE;
import static io.inferspan.ebpf.coldstart.ThreadState.SLEEP;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Activity;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Part;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A thread's time by state. */
class ThreadTimelineTest {

  private static final ThreadTimeline.Id ID = new ThreadTimeline.Id(1, 1, "");
  private static final int READ = 1;

  private final List<Event> events = new ArrayList<>();

  @Test
  void eachMoment_hasOneState() {
    add(Kind.SYSCALL_READ, 10, 60, 0, 0);
    add(Kind.SCHED_OFFCPU, 20, 40, 2, READ); // for the disk
    add(Kind.SCHED_RUNQUEUE, 40, 45, 0, READ);
    add(Kind.SCHED_OFFCPU, 70, 90, 1, 0); // sleeps
    add(Kind.CUDA_STREAM_SYNC, 100, 200, 0, 0);
    add(Kind.SCHED_OFFCPU, 150, 190, 1, 0);
    add(Kind.CUDA_LAUNCH, 210, 220, 0, 0); // runs
    add(Kind.SCHED_OFFCPU, 220, 230, 1, callNamed("futex"));

    ThreadTimeline thread = new ThreadTimeline(ID, events, 0, 250, null);

    assertThat(thread.states(0, 250))
        .isEqualTo(
            Map.of(
                ON_CPU_USER, 10L + 10 + 10 + 10 + 10 + 20,
                ON_CPU_KERNEL, 10L + 15,
                DISK_OR_FAULT, 20L,
                RUN_QUEUE, 5L,
                SLEEP, 20L,
                DEVICE, 100L,
                FUTEX_PIPE_SOCKET, 10L));
    assertThat(thread.busyNanos(0, 250)).isEqualTo(220);
    assertThat(thread.longestActivity(215, 232))
        .isEqualTo(new Activity(FUTEX_PIPE_SOCKET, "futex"));
  }

  @Test
  void intervals_areLongTimesOfOneKind_despiteShortInterruptions() {
    add(Kind.SCHED_OFFCPU, 50, 52, 1, callNamed("futex")); // brief
    add(Kind.SCHED_OFFCPU, 200, 300, 1, callNamed("futex"));
    add(Kind.SCHED_OFFCPU, 302, 400, 1, callNamed("futex"));
    add(Kind.CUDA_DEVICE_SYNC, 420, 600, 0, 0);
    add(Kind.SCHED_OFFCPU, 421, 590, 1, 0);

    ThreadTimeline thread = new ThreadTimeline(ID, events, 0, 610, null);

    assertThat(thread.intervals(100))
        .containsExactly(
            new Part(ON_CPU_USER, "", 0, 200),
            new Part(FUTEX_PIPE_SOCKET, "futex", 200, 400),
            new Part(DEVICE, "cuCtxSynchronize", 420, 600));
  }

  @Test
  void unfinishedWait_coversTheTimeAfterTheLastEvent() {
    add(Kind.SYSCALL_READ, 10, 20, 0, 0);

    ThreadTimeline thread = new ThreadTimeline(ID, events, 0, 100, new Activity(SLEEP, ""));

    assertThat(thread.states(0, 100))
        .isEqualTo(Map.of(ON_CPU_USER, 10L, ON_CPU_KERNEL, 10L, SLEEP, 80L));
  }

  @Test
  void states_addUpToTheWall() {
    Random random = new Random(5);
    List<Kind> kinds =
        List.of(Kind.SYSCALL_READ, Kind.SCHED_OFFCPU, Kind.SCHED_RUNQUEUE, Kind.CUDA_LAUNCH);
    for (int round = 0; round < 200; round++) {
      events.clear();
      for (int i = 0; i < 50; i++) {
        long start = random.nextInt(1000);
        Kind kind = kinds.get(random.nextInt(kinds.size()));
        add(kind, start, start + random.nextInt(100), 1 + random.nextInt(2), random.nextInt(300));
      }
      events.sort(Comparator.comparingLong(Event::startNanos));

      ThreadTimeline thread = new ThreadTimeline(ID, events, 100, 900, null);

      assertThat(thread.states(0, 1000).values().stream().mapToLong(Long::longValue).sum())
          .isEqualTo(800)
          .isEqualTo(thread.nanos());
    }
  }

  private static int callNamed(String name) {
    return name.equals(CallNumber.name(203)) ? 203 : 99;
  }

  private void add(Kind kind, long start, long end, long detail, long extra) {
    events.add(new Event(kind, 1, 1, start, end, 0, detail, extra, ""));
  }
}
