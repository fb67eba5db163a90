package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The controller while the bridge sleeps, and when it wakes. */
class BudgetAsleepTest {

  private static final double[] SHARES = {1, 0.6, 0.5, 0.45, 0};

  @Test
  void asleepWithCollectivesAboveTheBudget_onlyTheirProbesAreDetached() {
    Sleeper bridge = new Sleeper();
    bridge.sleeps(true);
    bridge.collectives = 1.2;
    bridge.seconds(60);

    assertThat(bridge.controller.levels()).isEqualTo(DetailLevels.FULL);
    assertThat(bridge.paused).isEqualTo(1);
    assertThat(bridge.cost()).isEqualTo(Sleeper.REQUESTS);
  }

  @Test
  void asleepWithCollectivesWithinTheBudget_theyAreCounted() {
    Sleeper bridge = new Sleeper();
    bridge.sleeps(true);
    bridge.collectives = 0.6;
    bridge.seconds(60);

    assertThat(bridge.paused).isZero();
  }

  @Test
  void asleepWithRequestsAboveTheBudget_theyAreRecognisedAgainOnceTheyFit() {
    Sleeper bridge = new Sleeper();
    bridge.sleeps(true);
    bridge.collectives = 0.5;
    bridge.requests = 2;
    bridge.seconds(3);

    assertThat(bridge.controller.levels().words()).isEqualTo("syscalls:detached,requests:detached");
    assertThat(bridge.controller.isAllDetached()).isTrue();
    bridge.requests = Sleeper.REQUESTS;
    bridge.seconds(120);
    assertThat(bridge.controller.levels().of(EventClass.REQUESTS)).isEqualTo(DetailLevel.FULL);
  }

  @Test
  void asleep_doesNotRaiseWhatWasShed() {
    Sleeper bridge = new Sleeper();
    bridge.sched = 3;
    bridge.seconds(5);
    DetailLevels shed = bridge.controller.levels();
    assertThat(shed.of(EventClass.SCHED)).isEqualTo(DetailLevel.DETACHED);

    bridge.sleeps(true);
    bridge.seconds(60);
    assertThat(bridge.controller.levels()).isEqualTo(shed);
    bridge.sleeps(false);
    bridge.seconds(2);
    assertThat(bridge.controller.levels()).isEqualTo(shed);
    assertThat(bridge.cost()).isLessThan(1);
  }

  /** A bridge that sleeps and wakes, with a quarter of a second per period. */
  private static final class Sleeper {

    private static final double REQUESTS = 0.3;
    private static final double CALLS = 0.2;

    private final BudgetController controller =
        new BudgetController(SHARES, new BudgetController.Detachable(true, true), 0);
    private double sched;
    private double collectives;
    private double requests = REQUESTS;
    private boolean asleep;
    private int paused;
    private double seconds;

    void sleeps(boolean now) {
      asleep = now;
      controller.sleep(now, nanos());
    }

    void seconds(double length) {
      for (double end = seconds + length; seconds < end; ) {
        seconds += 0.25;
        boolean before = controller.areCollectivesOff();
        DetailLevels ignored = controller.period(new Load(cost(), inFull()), nanos());
        paused += controller.areCollectivesOff() && !before ? 1 : 0;
      }
    }

    double cost() {
      double cost = 0;
      for (Map.Entry<EventClass, Double> each : inFull().entrySet()) {
        boolean whole = asleep && each.getKey() == EventClass.CALLS;
        DetailLevel level = controller.levels().of(each.getKey());
        cost += each.getValue() * (whole ? 1 : SHARES[level.number()]);
      }
      return cost;
    }

    /** While asleep, nothing is spent on the classes whose probes are detached. */
    private Map<EventClass, Double> inFull() {
      return Map.of(
          EventClass.SCHED, asleep ? 0 : sched,
          EventClass.CALLS, asleep ? (controller.areCollectivesOff() ? 0 : collectives) : CALLS,
          EventClass.REQUESTS, requests);
    }

    private long nanos() {
      return (long) (seconds * 1e9);
    }
  }
}
