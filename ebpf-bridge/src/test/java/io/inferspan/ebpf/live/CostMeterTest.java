package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.Counters;
import io.inferspan.ebpf.kernel.TrapTimes;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Costs computed from a clock, a reader and programs that the test controls. */
class CostMeterTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final Offset<Double> ROUNDING = within(1e-9);

  private final Map<EventClass, Long> reported = new EnumMap<>(EventClass.class);
  private final Map<EventClass, Long> shed = new EnumMap<>(EventClass.class);
  private long nanos = 1;
  private long cpu = 5;
  private long measuring;
  private long bytes;

  @Test
  void events_countWhatIsReportedAndKnowWhatFullWouldBe() {
    CostMeter meter = meter("100/s");
    nanos += 500 * MILLI;
    reported.put(EventClass.SCHED, 20L);
    shed.put(EventClass.SCHED, 60L);
    reported.put(EventClass.LAUNCHES, 5L);

    Load load = meter.period(DetailLevels.FULL, CostMeter.Programs.NONE);

    assertThat(load.total()).isEqualTo(0.5, ROUNDING);
    assertThat(load.inFull(EventClass.SCHED)).isEqualTo(1.6, ROUNDING);
    assertThat(load.inFull(EventClass.LAUNCHES)).isEqualTo(0.1, ROUNDING);
  }

  @Test
  void cpuTime_isProgramsTrapsAndReader() {
    CostMeter meter = meter("1%");
    meter.traps(new TrapTimes(3_000, 500, 200, true));
    nanos += 250 * MILLI;
    cpu += MILLI;
    shed.put(EventClass.SYSCALLS, 1_000L);
    // In a window of 50 ms: 0.1 ms each, with a hundred traps at calls, as many at their returns,
    // and a hundred ends of system calls.
    RunStats runs = new RunStats(100, MILLI / 10);
    CostMeter.Programs programs =
        new CostMeter.Programs(
            50 * MILLI,
            Map.of(
                Counters.Programs.SCHED, runs,
                Counters.Programs.CONTEXT, runs,
                Counters.Programs.CALLS, runs,
                Counters.Programs.RETURNS, runs));

    Load load = meter.period(DetailLevels.FULL, programs);

    // The budget of a second is 10 ms. The reader used 4 ms, each group of programs 2 ms, the traps
    // 6 ms and 1 ms, and the ends of system calls 0.4 ms. Of the 2.4 ms at system calls, 2 ms are
    // for 4,000 events of half a microsecond.
    assertThat(load.total()).isEqualTo(1.94, ROUNDING);
    assertThat(load.inFull(EventClass.SCHED)).isEqualTo(0.2, ROUNDING);
    assertThat(load.inFull(EventClass.SYSCALLS)).isEqualTo(0.2, ROUNDING);
    assertThat(load.inFull(EventClass.REQUESTS)).isEqualTo(0.04, ROUNDING);
    assertThat(load.inFull(EventClass.CALLS) + load.inFull(EventClass.LAUNCHES))
        .isEqualTo(1.1, ROUNDING);
  }

  /** While the bridge sleeps, the probes on collectives run and no event is reported. */
  @Test
  void cpuTimeOfCalls_isNotThatOfDetachedLaunches() {
    CostMeter meter = meter("1%");
    meter.traps(new TrapTimes(0, 0, 0, true));
    nanos += 250 * MILLI;
    CostMeter.Programs programs =
        new CostMeter.Programs(
            50 * MILLI, Map.of(Counters.Programs.CALLS, new RunStats(100, MILLI / 10)));
    DetailLevels levels = DetailLevels.FULL.with(EventClass.LAUNCHES, DetailLevel.DETACHED);

    Load load = meter.period(levels, programs);

    assertThat(load.total()).isEqualTo(0.2, ROUNDING);
    assertThat(load.inFull(EventClass.CALLS)).isEqualTo(0.2, ROUNDING);
    assertThat(load.inFull(EventClass.LAUNCHES)).isZero();
  }

  @Test
  void cpuTimeOfAChange_isTheWholeBudgetOfSomeTime() {
    assertThat(meter("0.5%").budgetNanos(5 * MILLI)).isEqualTo(1_000.0 * MILLI, ROUNDING);
    assertThat(meter("100/s").budgetNanos(5 * MILLI)).isZero();
  }

  @Test
  void bytes_areThoseOfTheRing() {
    CostMeter meter = meter("72kB/s");
    nanos += 500 * MILLI;
    bytes = 18_000;
    shed.put(EventClass.LAUNCHES, 500L);

    Load load = meter.period(DetailLevels.FULL, CostMeter.Programs.NONE);

    assertThat(load.total()).isEqualTo(0.5, ROUNDING);
    assertThat(load.inFull(EventClass.LAUNCHES)).isEqualTo(1, ROUNDING);
  }

  @Test
  void moreBytesOrCpuTimeThanInTheLastPeriod_mayHaveRisen() {
    CostMeter meter = meter("1%");
    second(2, 100_000);
    Load ignored = meter.period(DetailLevels.FULL, CostMeter.Programs.NONE);

    second(2, 100_000);
    assertThat(meter.mayHaveRisen()).isFalse();
    second(8, 100_000);
    assertThat(meter.mayHaveRisen()).isTrue();
    second(2, 200_000);
    assertThat(meter.mayHaveRisen()).isTrue();
    second(2, 100_000);
    assertThat(meter.mayHaveRisen()).isFalse();
  }

  /** One wake of the agent would exceed the budget of 50 ms. */
  @Test
  void shortPeriod_doesNotShowTheCpuTimeOfTheAgent() {
    CostMeter meter = meter("1%");
    assertThat(cpuOfPeriod(meter, 1_000, 2)).isEqualTo(0.2, ROUNDING);

    assertThat(cpuOfPeriod(meter, 50, 2)).isEqualTo(0.2, ROUNDING);
    assertThat(cpuOfPeriod(meter, 1_000, 2)).isEqualTo(0.2, ROUNDING);
  }

  @Test
  void burstOfTheAgent_isAveragedAndLimited() {
    CostMeter meter = meter("1%");
    assertThat(cpuOfPeriod(meter, 1_000, 2)).isEqualTo(0.2, ROUNDING);

    // The burst counts as at most 5 ms, for a third of the three seconds over which is averaged.
    assertThat(cpuOfPeriod(meter, 1_000, 50)).isEqualTo(0.3, ROUNDING);
    assertThat(cpuOfPeriod(meter, 1_000, 3)).isEqualTo(0.3, ROUNDING);
  }

  /** After a change the next period is short, but later ones are not. */
  @Test
  void measuring_countsAsIfThePeriodWereAsLongAsUsual() {
    CostMeter meter = meter("1%");
    measuring += MILLI;

    assertThat(cpuOfPeriod(meter, 500, 2)).isEqualTo(0.3, ROUNDING);
  }

  @Test
  void look_isLaterWithASmallBudget() {
    assertThat(meter("5%").lookMillis()).isEqualTo(250);
    assertThat(meter("0.5%").lookMillis()).isEqualTo(500);
    assertThat(meter("0.1%").lookMillis()).isEqualTo(500);
    assertThat(meter("100/s").lookMillis()).isEqualTo(250);
  }

  private double cpuOfPeriod(CostMeter meter, int millis, int cpuMillis) {
    nanos += millis * MILLI;
    cpu += cpuMillis * MILLI;
    return meter.period(DetailLevels.FULL, CostMeter.Programs.NONE).total();
  }

  private void second(int cpuMillis, long read) {
    nanos += 1_000 * MILLI;
    cpu += cpuMillis * MILLI;
    bytes += read;
  }

  @Test
  void aPeriod_isSinceTheOneBefore() {
    CostMeter meter = meter("100/s");
    nanos += 1_000 * MILLI;
    reported.put(EventClass.CALLS, 100L);
    Load first = meter.period(DetailLevels.FULL, CostMeter.Programs.NONE);
    nanos += 1_000 * MILLI;
    reported.put(EventClass.CALLS, 150L);

    assertThat(first.total()).isEqualTo(1, ROUNDING);
    assertThat(meter.period(DetailLevels.FULL, CostMeter.Programs.NONE).total())
        .isEqualTo(0.5, ROUNDING);
  }

  private CostMeter meter(String budget) {
    return new CostMeter(
        TracingBudget.parse(budget),
        new CostMeter.Sources(
            () -> nanos,
            () -> cpu,
            () -> measuring,
            () -> bytes,
            events -> reported.getOrDefault(events, 0L),
            events -> shed.getOrDefault(events, 0L)));
  }
}
