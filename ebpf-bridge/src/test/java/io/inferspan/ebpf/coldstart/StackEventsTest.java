package io.inferspan.ebpf.coldstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.coldstart.StackEvents.Collected;
import io.inferspan.ebpf.coldstart.StackEvents.Sample;
import io.inferspan.ebpf.coldstart.StackEvents.Wake;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Explanations of what a thread did in an interval. */
class StackEventsTest {

  private static final int THREAD = 7;
  private static final int OTHER = 8;

  @Test
  void runningThread_isExplainedByItsMostFrequentStacks() {
    Collected collected =
        new Collected(
            List.of(
                new Sample(THREAD, 99, "before"),
                new Sample(THREAD, 100, "crc32 < main"),
                new Sample(OTHER, 110, "elsewhere"),
                new Sample(THREAD, 110, "read"),
                new Sample(THREAD, 120, "crc32 < main"),
                new Sample(THREAD, 130, "crc32 < main"),
                new Sample(THREAD, 140, "write"),
                new Sample(THREAD, 150, "write"),
                new Sample(THREAD, 200, "after")),
            List.of());

    assertThat(collected.why(THREAD, ThreadState.ON_CPU_USER, 100, 200))
        .isEqualTo("50 % in crc32 < main; 33 % in write");
    assertThat(collected.why(THREAD, ThreadState.DEVICE, 100, 200)).isEmpty();
  }

  @Test
  void waitingThread_isExplainedByTheThreadThatEndedItsLongestWait() {
    Collected collected =
        new Collected(
            List.of(),
            List.of(
                new Wake(THREAD, 100, 110, 5, 50, "short", "write"),
                new Wake(THREAD, 110, 190, 6, 60, "lock-holder", "sem_post < release"),
                new Wake(OTHER, 100, 200, 6, 61, "of another", ""),
                new Wake(THREAD, 200, 900, 6, 62, "later", "")));

    assertThat(collected.why(THREAD, ThreadState.FUTEX_PIPE_SOCKET, 100, 200))
        .isEqualTo("ended by thread 60 (lock-holder) of process 6 in sem_post < release");
    assertThat(collected.why(THREAD, ThreadState.FUTEX_PIPE_SOCKET, 190, 200)).isEmpty();
  }
}
