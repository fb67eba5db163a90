package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Levels of a simulated load, whose cost is known at each level. */
class BudgetControllerTest {

  /** Periods in two seconds. */
  private static final int TWO_SECONDS = 8;

  private static final double[] SHARES = {1, 0.6, 0.5, 0.45, 0};

  private final Map<EventClass, Double> inFull = new EnumMap<>(EventClass.class);
  private BudgetController controller = new BudgetController(SHARES, true);
  private double others;

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

  @Test
  void budgetThatCannotBeHeld_detachesAll() {
    others = 2;
    load(1, 1, 1, 1);

    periods(40);

    assertThat(controller.levels().words())
        .isEqualTo("sched:detached,syscalls:detached,calls:detached,launches:detached");
  }

  @Test
  void probesThatAreSlowToDetach_areCounted() {
    controller = new BudgetController(SHARES, false);
    others = 2;
    load(1, 1, 1, 1);

    periods(40);

    assertThat(controller.levels().words())
        .isEqualTo("sched:detached,syscalls:detached,calls:counted,launches:counted");
  }

  @Test
  void excessThatEstimatesDoNotExplain_isCountedBeforeItIsDetached() {
    others = 2;
    load(1, 1, 1, 1);

    periods(1);

    assertThat(controller.levels().words())
        .isEqualTo("sched:counted,syscalls:counted,calls:counted,launches:counted");
  }

  @Test
  void oneExpensivePeriod_isTakenBackAfterSomeQuietOnes() {
    load(3, 0.1, 0.1, 0.1);
    periods(1);
    DetailLevels lowered = controller.levels();
    load(0.3, 0.1, 0.1, 0.1);
    periods(BudgetController.QUIET);

    assertThat(lowered).isNotEqualTo(DetailLevels.FULL);
    assertThat(controller.levels()).isEqualTo(lowered);
    periods(3 * BudgetController.QUIET);
    assertThat(controller.levels()).isEqualTo(DetailLevels.FULL);
  }

  /** The cost of a detached class is unknown; trying is itself a cost. */
  @Test
  void raisesThatProveWrong_areTriedMoreAndMoreSeldom() {
    load(3, 0.05, 0.4, 0.05);

    List<Integer> tries = new ArrayList<>();
    DetailLevel before = DetailLevel.FULL;
    for (int period = 0; period < 400; period++) {
      periods(1);
      DetailLevel now = level(EventClass.SCHED);
      if (before == DetailLevel.DETACHED && now != before) {
        tries.add(period);
      }
      before = now;
    }

    assertThat(tries).hasSizeBetween(3, 10);
    assertThat(tries.get(2) - tries.get(1)).isGreaterThan(tries.get(1) - tries.get(0));
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
      DetailLevels ignored = controller.period(new Load(cost(), known));
    }
  }

  private DetailLevel level(EventClass events) {
    return controller.levels().of(events);
  }
}
