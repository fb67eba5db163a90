package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.coldstart.ThreadState.DISK_OR_FAULT;
import static io.inferspan.ebpf.coldstart.ThreadState.ON_CPU_USER;
import static io.inferspan.ebpf.coldstart.ThreadState.SLEEP;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.coldstart.ColdStart.Outcome;
import io.inferspan.ebpf.coldstart.ColdStart.ThreadClass;
import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.Readiness.Cause;
import io.inferspan.ebpf.coldstart.Readiness.Ready;
import io.inferspan.ebpf.coldstart.StackEvents.Collected;
import io.inferspan.ebpf.coldstart.StackEvents.Sample;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Activity;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Task;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The threads of a process that are not its main thread. */
class ThreadClassesTest {

  private static final int PID = 7;
  private static final int SLEEPS = 1;
  private static final int DISK = 2;
  private static final long WALL = 1000;

  private final List<Event> events = new ArrayList<>();

  @Test
  void threadsOfOneName_areOneClass_andThoseThatDoLittleAreTheOthers() {
    off(PID, 0, WALL, SLEEPS);
    off(8, 100, 300, DISK);
    off(8, 400, 500, SLEEPS); // ran before, and has ended
    off(9, 200, 300, DISK); // sleeps until the end
    off(10, 0, 990, SLEEPS); // runs for less than a fiftieth
    Map<Integer, Task> tasks =
        Map.of(
            PID,
            new Task("main", new Activity(SLEEP, "")),
            9,
            new Task("loader-2", new Activity(SLEEP, "")),
            10,
            new Task("timer", null));
    Collected collected =
        new Collected(
            List.of(new Sample(8, 350, "crc32")), List.of(), Map.of(8, "loader-1", 9, "old"));

    ColdStart start =
        new ColdStart(
            events, collected, new Outcome(PID, 0, new Ready(Cause.URL, WALL), 0, 0, tasks));

    assertThat(start.classes(PID))
        .containsExactly(
            new ThreadClass(
                PID, "loader", 2, Map.of(DISK_OR_FAULT, 300L, ON_CPU_USER, 100L, SLEEP, 800L)),
            new ThreadClass(PID, "others", 1, Map.of(SLEEP, 990L, ON_CPU_USER, 10L)));
    assertThat(start.busyThreads())
        .extracting(thread -> thread.id().toString())
        .containsExactly("thread 8 (loader-1) of process 7", "thread 9 (loader-2) of process 7");
    assertThat(start.intervals())
        .extracting(ColdStart.Explained::text)
        .containsExactly(
            "sleep, process 7",
            "disk_or_fault, thread 8 (loader-1) of process 7",
            "disk_or_fault, thread 9 (loader-2) of process 7",
            "on_cpu_user, thread 8 (loader-1) of process 7, 100 % in crc32");
    assertThat(ColdStartText.of(start)).containsPattern("(?m)^ {4}2 loader +0\\.000");
  }

  private void off(int tid, long start, long end, int state) {
    events.add(new Event(Kind.SCHED_OFFCPU, PID, tid, start, end, 0, state, 0, ""));
  }
}
