package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The recognition of requests, without which nothing else is traced, during bursts. */
class BudgetRecognitionTest {

  private static final double[] SHARES = {1, 0.6, 0.5, 0.45, 0};
  private static final long HALF_SECOND = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long WINDOW = TimeUnit.MILLISECONDS.toNanos(50);

  private final BudgetController controller =
      new BudgetController(SHARES, new BudgetController.Detachable(true, true), 0);
  private final CostMeter meter =
      new CostMeter(
          TracingBudget.parse("0.5%"),
          new CostMeter.Sources(
              () -> nanos(), () -> cpuNanos(), () -> 0, () -> 0, events -> 0, events -> 0));

  private long nanos;
  private long cpuNanos;

  @Test
  void burstRightAfterAllElseWasDetached_doesNotDetachIt() {
    periodsUntilTheSchedulerIsDetached();
    period(1.35, 0);
    period(0.6, 0);

    assertThat(isDetached()).isFalse();
  }

  @Test
  void twoPeriodsAboveTheBudgetWithoutAllElse_detachIt() {
    periodsUntilTheSchedulerIsDetached();
    period(1.35, 0);
    assertThat(controller.isUrgent()).isTrue();
    period(1.35, 0);

    assertThat(isDetached()).isTrue();
  }

  @Test
  void burstsWithAPeriodWithinTheBudgetBetweenThem_doNotDetachIt() {
    for (int i = 0; i < 10; i++) {
      period(1.35, 0);
      period(0.6, 0);
    }

    assertThat(isDetached()).isFalse();
  }

  /** The average of the agent's CPU time exceeds the budget for some periods after the burst. */
  @Test
  void oneBurstOfTheCompiler_doesNotDetachIt() {
    for (int period = 0; period < 40; period++) {
      nanos += HALF_SECOND;
      cpuNanos += TimeUnit.MICROSECONDS.toNanos(period == 10 ? 20_000 : 1_500);
      RunStats recognition = new RunStats(0, (long) (0.395 * 0.005 * WINDOW));
      CostMeter.Programs programs =
          new CostMeter.Programs(WINDOW, Map.of(Counters.Programs.CONTEXT, recognition));
      DetailLevels ignored = controller.period(meter.period(controller.levels(), programs), nanos);
      assertThat(isDetached()).as("after period %s", period).isFalse();
    }
  }

  private void periodsUntilTheSchedulerIsDetached() {
    while (controller.levels().of(EventClass.SCHED) != DetailLevel.DETACHED) {
      period(0.6, 8);
    }
  }

  private void period(double requests, double sched) {
    nanos += HALF_SECOND;
    double total = requests + sched * SHARES[controller.levels().of(EventClass.SCHED).number()];
    Load load = new Load(total, Map.of(EventClass.REQUESTS, requests, EventClass.SCHED, sched));
    DetailLevels ignored = controller.period(load, nanos);
  }

  private boolean isDetached() {
    return controller.levels().of(EventClass.REQUESTS) == DetailLevel.DETACHED;
  }

  private long nanos() {
    return nanos;
  }

  private long cpuNanos() {
    return cpuNanos;
  }
}
