package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.live.BudgetController.Detachable;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Levels of a simulated load, whose cost is known at each level. */
class BudgetControllerTest {

  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The number of periods in two seconds. */
  private static final int TWO_SECONDS = 8;

  /** The number of periods before detail is raised. */
  private static final int QUIET = (int) (BudgetController.QUIET_NANOS / PERIOD_NANOS);

  private static final double[] SHARES = {1, 0.6, 0.5, 0.45, 0};
  private static final Detachable ALL = new Detachable(true, true);

  private final Map<EventClass, Double> inFull = new EnumMap<>(EventClass.class);
  private BudgetController controller = new BudgetController(SHARES, ALL, 0);
  private long nowNanos;
  private double others;
  private double changeNanos;
  private int changes;

  @Test
  void withinTheBudget_everythingIsFull() {
    load(0.3, 0.3, 0.1, 0.1);

    periods(100);

    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  @Test
  void tenfoldLoad_isWithinTheBudgetInTwoSecondsAndFullSoonAfterwards() {
    load(0.3, 0.3, 0.1, 0.1);
    periods(10);
    load(3, 3, 1, 1);
    periods(TWO_SECONDS);

    assertThat(cost()).isLessThan(1);
    assertThat(level(EventClass.SCHED)).isEqualTo(DetailLevel.DETACHED);
    assertThat(level(EventClass.SYSCALLS)).isEqualTo(DetailLevel.DETACHED);
    assertThat(level(EventClass.LAUNCHES)).isNotEqualTo(DetailLevel.DETACHED);

    load(0.3, 0.3, 0.1, 0.1);
    periods(4 * TWO_SECONDS);
    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  @Test
  void recognitionThatDoesNotFit_goesWhenAllElseIsShedAndComesBackFirst() {
    load(0.3, 0.3, 0.1, 0.1);
    inFull.put(EventClass.REQUESTS, 30.0);
    periods(TWO_SECONDS);

    assertThat(cost()).isZero();
    assertThat(controller.levels().words())
        .isEqualTo(
            "sched:detached,syscalls:detached,calls:detached,launches:detached,requests:detached");

    inFull.put(EventClass.REQUESTS, 0.1);
    while (level(EventClass.REQUESTS) == DetailLevel.DETACHED) {
      periods(1);
      assertThat(level(EventClass.LAUNCHES)).isEqualTo(DetailLevel.DETACHED);
    }
    periods(4 * TWO_SECONDS);
    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  /**
   * The other cost is that of the bridge's threads, which detaching recognition does not reduce.
   */
  @Test
  void recognitionThatCostsLittle_staysHoweverMuchOthersCost() {
    load(1, 1, 1, 1);
    others = 2;
    inFull.put(EventClass.REQUESTS, 0.1);

    periods(40);

    assertThat(level(EventClass.REQUESTS)).isEqualTo(DetailLevel.FULL);
  }

  /** Measurements are off by a few percent, and no request is traced without recognition. */
  @Test
  void recognition_staysIfTheExcessIsSmall() {
    load(0, 0, 0, 0);
    inFull.put(EventClass.REQUESTS, 1.05);

    periods(40);

    assertThat(level(EventClass.REQUESTS)).isEqualTo(DetailLevel.FULL);
  }

  /** The excess of a later period is not the trial's. */
  @Test
  void trial_endsWithItsFirstPeriod() {
    load(0, 0, 0, 0);
    inFull.put(EventClass.REQUESTS, 2.0);
    periods(TWO_SECONDS);
    inFull.put(EventClass.REQUESTS, 0.05);
    while (level(EventClass.REQUESTS) == DetailLevel.DETACHED) {
      periods(1);
    }

    others = 2;
    periods(1);

    assertThat(controller.isTrying()).isFalse();
    assertThat(controller.isUrgent()).isTrue();
    periods(1);
    assertThat(controller.isUrgent()).isFalse();
  }

  @Test
  void trialsThatFail_takeAFifthOfTheBudget() {
    load(0, 0, 0, 0);
    inFull.put(EventClass.REQUESTS, 20.0);

    periods(TWO_SECONDS);
    double spent = 0;
    for (int period = 0; period < 1_000; period++) {
      spent += cost();
      periods(1);
    }

    assertThat(spent / 1_000).isBetween(0.1, 0.2);
  }

  /** The bridge's cost without the class is not a cost of the trial. */
  @Test
  void trialThatFails_isChargedWithoutTheCostOfTheBridgeItself() {
    load(0, 0, 0, 0);
    inFull.put(EventClass.REQUESTS, 20.0);
    periods(TWO_SECONDS);
    long alone = nanosBetweenTrials();

    others = 0.6;

    assertThat(nanosBetweenTrials()).isEqualTo(alone);
  }

  private long nanosBetweenTrials() {
    long tried = 0;
    for (int trials = 0; trials < 2; ) {
      DetailLevel before = level(EventClass.REQUESTS);
      periods(1);
      if (level(EventClass.REQUESTS) != DetailLevel.DETACHED && before == DetailLevel.DETACHED) {
        tried = trials++ == 0 ? nowNanos : nowNanos - tried;
      }
    }
    return tried;
  }

  /** Other classes have no events without recognised requests. */
  @Test
  void nextCost_includesTheRecognitionOfRequests() {
    load(0.1, 0.1, 0.1, 0.1);
    inFull.put(EventClass.REQUESTS, 20.0);
    periods(TWO_SECONDS);
    Load load = new Load(cost(), Map.of());

    double requests = controller.next(load, EventClass.REQUESTS);

    assertThat(level(EventClass.REQUESTS)).isEqualTo(DetailLevel.DETACHED);
    assertThat(requests).isEqualTo(20);
    assertThat(controller.next(load, EventClass.LAUNCHES)).isBetween(requests, requests + 0.3);
  }

  /** Attaching the probes of a class costs the budget of half a second. */
  @Test
  void loadThatComesAndGoes_makesChangesTakeAFifthOfTheBudget() {
    changeNanos = 5e8;

    for (int turn = 0; turn < 500; turn++) {
      boolean high = turn % 2 == 0;
      load(high ? 3 : 0.1, high ? 3 : 0.1, 0.1, high ? 3 : 0.1);
      periods(2 * TWO_SECONDS);
    }

    assertThat(changes).isGreaterThan(50);
    assertThat(changes * changeNanos / nowNanos).isBetween(0.1, 0.2);
  }

  /** If each class had a fifth of the budget for its trials, they would exceed it together. */
  @Test
  void trialsOfAllClasses_takeAFifthOfTheBudgetTogether() {
    load(8, 8, 8, 8);
    periods(4 * TWO_SECONDS);
    double spent = 0;
    for (int period = 0; period < 2_000; period++) {
      spent += cost();
      periods(1);
    }

    assertThat(spent / 2_000).isBetween(0.05, 0.2);
  }

  /** Little of the budget is unused, but the costs of the detached classes are known. */
  @Test
  void classesThatFit_areAttachedAgain() {
    load(0.2, 0.1, 0.1, 0.1);
    others = 2;
    periods(40);
    assertThat(level(EventClass.LAUNCHES)).isEqualTo(DetailLevel.DETACHED);

    others = 0.7;
    periods(40);

    assertThat(cost()).isLessThan(0.9);
    assertThat(level(EventClass.LAUNCHES)).isEqualTo(DetailLevel.FULL);
    assertThat(level(EventClass.CALLS)).isNotEqualTo(DetailLevel.DETACHED);
    assertThat(controller.next(new Load(cost(), inFull), EventClass.SCHED)).isGreaterThan(0.9);
    assertThat(controller.next(new Load(cost(), inFull), EventClass.LAUNCHES)).isZero();
  }

  /** No attached class shows that launches have become fewer, and little is unused. */
  @Test
  void launchesThatBecomeFewer_areTriedThoughTheirEstimateIsOld() {
    others = 0.83;
    load(0, 0, 0, 2);
    periods(TWO_SECONDS);
    assertThat(level(EventClass.LAUNCHES)).isEqualTo(DetailLevel.DETACHED);
    inFull.put(EventClass.LAUNCHES, 0.1);
    periods(TWO_SECONDS);
    assertThat(level(EventClass.LAUNCHES)).isNotEqualTo(DetailLevel.DETACHED);
  }

  @Test
  void burstInOnePeriod_takesNothing() {
    load(0.3, 0.1, 0.1, 0.1);
    periods(1);
    others = 5;
    periods(1);
    others = 0;
    periods(QUIET);

    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  @Test
  void slightExcess_takesDetailFromTheSchedulerOnly() {
    load(0.55, 0.5, 0.1, 0.1);

    periods(TWO_SECONDS);

    assertThat(cost()).isLessThan(1);
    assertThat(controller.levels().words()).isEqualTo("sched:folded");
  }

  @Test
  void classThatCostsNothing_keepsItsDetail() {
    load(0.001, 0.001, 0.001, 1.5);

    periods(TWO_SECONDS);

    assertThat(controller.levels().words()).isEqualTo("launches:sampled");
  }

  /** The other calls are few, and the waits among them show when a step of an engine ends. */
  @Test
  void launchesThatDoNotFit_areDetachedAndOtherCallsAreReported() {
    load(0.1, 0.1, 0.2, 5);
    periods(4 * TWO_SECONDS);

    assertThat(cost()).isLessThan(1);
    assertThat(controller.levels().words()).isEqualTo("launches:detached");
  }

  @Test
  void excessThatEstimatesDoNotExplain_isCountedBeforeItIsDetached() {
    others = 2;
    load(1, 1, 1, 1);

    periods(2);
    assertThat(controller.levels().words())
        .isEqualTo("sched:counted,syscalls:counted,calls:counted,launches:counted");
    periods(38);

    assertThat(controller.levels().words())
        .isEqualTo("sched:detached,syscalls:detached,calls:detached,launches:detached");
  }

  @Test
  void whenAllIsDetached_theNextMeasurementIsThatOfTheNextTrial() {
    load(0.1, 0.1, 0.1, 0.1);
    inFull.put(EventClass.REQUESTS, 0.3);
    assertThat(controller.restNanos(0)).isEqualTo(TimeUnit.SECONDS.toNanos(2));
    others = 1.5;
    periods(40);

    assertThat(controller.isAllDetached()).isTrue();
    assertThat(controller.restNanos(nowNanos)).isEqualTo(BudgetController.QUIET_NANOS);
    others = 0;
    inFull.put(EventClass.REQUESTS, 30.0);
    while (controller.isAllDetached()) {
      periods(1);
    }
    assertThat(controller.restNanos(nowNanos)).isEqualTo(BudgetController.QUIET_NANOS);
    periods(1);
    assertThat(controller.isAllDetached()).isTrue();
    assertThat(controller.restNanos(nowNanos)).isEqualTo(TimeUnit.SECONDS.toNanos(4));
  }

  @Test
  void probesThatAreSlowToDetach_areCounted() {
    controller = new BudgetController(SHARES, new Detachable(false, false), 0);
    others = 2;
    load(1, 1, 1, 1);

    periods(40);

    assertThat(controller.levels().words())
        .isEqualTo("sched:detached,syscalls:detached,calls:counted,launches:counted");
  }

  @Test
  void expensiveTime_isTakenBackAfterSomeQuietPeriods() {
    load(3, 0.1, 0.1, 0.1);
    periods(2);
    DetailLevels lowered = controller.levels();
    load(0.3, 0.1, 0.1, 0.1);
    periods(QUIET - 1);

    assertThat(lowered).isNotEqualTo(DetailLevels.FULL);
    assertThat(controller.levels()).isEqualTo(lowered);
    periods(4 * QUIET);
    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  /** The cost of a detached class is unknown; trying is itself a cost. */
  @Test
  void raisesThatProveWrong_areTriedAgainAndTakeAFifthOfTheBudget() {
    load(3, 0.05, 0.4, 0.05);
    periods(TWO_SECONDS);

    int tries = 0;
    double spent = 0;
    for (int period = 0; period < 400; period++) {
      DetailLevel before = level(EventClass.SCHED);
      spent += cost() - 0.5;
      periods(1);
      tries += before == DetailLevel.DETACHED && level(EventClass.SCHED) != before ? 1 : 0;
    }

    assertThat(tries).isGreaterThan(3);
    assertThat(spent / 400).isLessThan(0.2);
  }

  private void load(double sched, double syscalls, double calls, double launches) {
    inFull.put(EventClass.SCHED, sched);
    inFull.put(EventClass.SYSCALLS, syscalls);
    inFull.put(EventClass.CALLS, calls);
    inFull.put(EventClass.LAUNCHES, launches);
  }

  private double cost() {
    double cost = others;
    for (EventClass events : EventClass.values()) {
      cost += inFull.getOrDefault(events, 0.0) * SHARES[level(events).number()];
    }
    return cost;
  }

  private void periods(int count) {
    for (int i = 0; i < count; i++) {
      Map<EventClass, Double> known = new EnumMap<>(inFull);
      known.keySet().removeIf(events -> level(events) == DetailLevel.DETACHED);
      nowNanos += PERIOD_NANOS;
      long before = detached();
      DetailLevels ignored = controller.period(new Load(cost(), known), nowNanos);
      if (detached() != before) {
        changes++;
        controller.switched(changeNanos, nowNanos);
      }
    }
  }

  private long detached() {
    return Arrays.stream(EventClass.values())
        .filter(events -> level(events) == DetailLevel.DETACHED)
        .count();
  }

  private DetailLevel level(EventClass events) {
    return controller.levels().of(events);
  }
}
