package io.inferspan.ebpf.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.ring.RingFill;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page about a bridge, from two readings two seconds apart. */
class TopTextTest {

  private static final long TWO_SECONDS = 2_000_000_000L;

  private final Reading before =
      new Reading(
          0,
          counters(
              Map.of(Kind.CUDA_LAUNCH.number(), 1_000L, ContextCount.REQUESTS_BEGAN.index(), 10L)),
          DetailLevels.FULL,
          new RingFill(0, 16 << 20),
          false,
          Map.of("sched_switch", new RunStats(0, 0)));

  private final Reading now =
      new Reading(
          TWO_SECONDS,
          counters(
              Map.of(
                  Kind.CUDA_LAUNCH.number(),
                  5_000L,
                  Kind.SYSCALL_READ.number(),
                  7L,
                  KernelLoss.RING_FULL.index(),
                  30L,
                  ContextCount.REQUESTS_BEGAN.index(),
                  14L,
                  ContextCount.THREADS_INTERLEAVED.index(),
                  1L,
                  ContextCount.HTTP_UNREADABLE.index(),
                  3L,
                  ContextCount.UNATTRIBUTED.index(),
                  8L,
                  PolicyCount.FOLDED.index(),
                  90L,
                  Counters.SHED + EventClass.SCHED.number(),
                  50L)),
          DetailLevels.FULL.with(EventClass.SCHED, DetailLevel.FOLDED),
          new RingFill(1 << 20, 16 << 20),
          false,
          Map.of("sched_switch", new RunStats(200_000, 40_000_000)));

  private final String page = TopText.of(before, now);

  @Test
  void events_areCountedPerSecondAndInTotal() {
    assertThat(line("cuda.launch")).isEqualTo("cuda.launch 2,000 5,000");
    assertThat(line("syscall.read")).isEqualTo("syscall.read 4 7");
    assertThat(page.indexOf("cuda.launch")).isLessThan(page.indexOf("syscall.read"));
    assertThat(page).doesNotContain("nccl.");
  }

  @Test
  void callsOfPolicies_areCounted() {
    assertThat(line("folded")).isEqualTo("folded 45 90");
    assertThat(TopText.of(before, before)).doesNotContain("POLICY");
  }

  @Test
  void loweredDetail_isListedWithItsShedEvents() {
    assertThat(line("sched (now")).isEqualTo("sched (now folded) 25 50");
    assertThat(page).doesNotContain("launches (now");
    assertThat(TopText.of(before, before)).doesNotContain("NOT IN FULL DETAIL");
  }

  @Test
  void losses_areNamed() {
    assertThat(line("ring full")).isEqualTo("ring full 15 30");
    assertThat(page).doesNotContain("no memory");
  }

  @Test
  void ringFill_isInBytesAndShare() {
    assertThat(page).contains("ring: 1.0 MiB of 16.0 MiB unread (6.3 %)");
  }

  @Test
  void requestsWithoutContext_areExplained() {
    assertThat(line("requests began")).isEqualTo("requests began 2 14");
    assertThat(line("no context: threads")).isEqualTo("no context: threads interleaved 1 1");
    assertThat(line("no context: http")).isEqualTo("no context: http unreadable 2 3");
    assertThat(line("operations")).isEqualTo("operations unattributed 4 8");
  }

  @Test
  void programs_costRunsTimesNanos() {
    assertThat(line("sched_switch")).isEqualTo("sched_switch 100,000 200 2.00");
  }

  @Test
  void programThatDidNotRun_hasNoCost() {
    assertThat(TopText.of(now, now)).containsPattern("sched_switch +0 +- +0.00");
  }

  private static Counters counters(Map<Integer, Long> values) {
    return index -> values.getOrDefault(index, 0L);
  }

  private String line(String beginning) {
    return page.lines()
        .map(line -> line.strip().replaceAll(" +", " "))
        .filter(line -> line.startsWith(beginning))
        .findFirst()
        .orElse("none");
  }
}
