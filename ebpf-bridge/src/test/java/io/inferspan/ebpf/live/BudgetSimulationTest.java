package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The controller with its measurements under random loads that grow tenfold and fall again.
 *
 * <p>Time is simulated, and so are costs: of the agent itself, of each class at each level, and of
 * attaching and detaching, as measured on Linux 6.18.
 */
class BudgetSimulationTest {

  private static final int RUNS = 300;
  private static final double SETTLED_SECONDS = 2;
  private static final double BAR = 1.2;
  private static final double STEP_SECONDS = 0.01;
  private static final double TRIAL_SECONDS = 0.05;
  private static final int PHASES = 8;

  /** The interval of measurements in seconds, including the measurement. */
  private static final double REST_SECONDS = 1.4;

  /** Detail is raised up to this share of the budget. */
  private static final double AIM = 0.9;

  private static final double[] SHARES = {1, 0.6, 0.5, 0.45, 0};

  /** The CPU seconds to attach the probes of a class, and to detach them again. */
  private static final Map<EventClass, Double> CHANGES =
      Map.of(
          EventClass.SCHED, 0.75e-3,
          EventClass.SYSCALLS, 0.0,
          EventClass.CALLS, 1.1e-3,
          EventClass.LAUNCHES, 0.3e-3,
          EventClass.REQUESTS, 2.9e-3);

  @Test
  void detailThatFits_isKeptWithinTwoSecondsOfAChangeOfLoad() {
    List<String> missed = new ArrayList<>();
    for (int seed = 0; seed < RUNS; seed++) {
      missed.addAll(new Simulation(seed).run());
    }

    assertThat(missed).isEmpty();
  }

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

  /** One agent under one budget; costs are in CPU seconds per second, budgets as well. */
  private static final class Simulation {

    private final int seed;
    private final Random random;
    private final double budget;
    private final double own;
    private final Map<EventClass, Double> usual = new EnumMap<>(EventClass.class);
    private final Deque<double[]> spent = new ArrayDeque<>();
    private final Map<EventClass, Double> fitsSince = new EnumMap<>(EventClass.class);
    private final List<String> missed = new ArrayList<>();
    private final BudgetController controller;
    private double seconds;
    private double recent;
    private double changed;

    /** The time since which the cost of the attached classes shows the load. */
    private double visible;

    private double changes = 10;
    private int phase;
    private int times = 1;
    private double last;
    private double next;
    private boolean tries;

    Simulation(int seed) {
      this.seed = seed;
      this.random = new Random(seed);
      this.budget = List.of(0.005, 0.01, 0.05).get(random.nextInt(3));
      this.own = 0.0015 + 0.002 * random.nextDouble();
      for (EventClass events : EventClass.values()) {
        usual.put(events, 1e-4 * Math.pow(20, random.nextDouble()));
      }
      this.controller =
          new BudgetController(SHARES, new BudgetController.Detachable(true, true), 0);
    }

    List<String> run() {
      while (phase < PHASES && missed.isEmpty()) {
        look();
      }
      return missed;
    }

    /** Lets the load grow tenfold or fall again. */
    private void change() {
      phase++;
      times = phase % 2 == 0 ? 1 : 10;
      changed = seconds;
      visible = seconds;
      changes = seconds + 5 + 10 * random.nextDouble();
    }

    /** Runs one turn of the thread that keeps the cost within the budget. */
    private void look() {
      if (!tries) {
        double rest = next - seconds;
        boolean off = controller.isAllDetached();
        if (next == 0) {
          rest = off ? 1 : 0.25;
        }
        pass(off ? Math.max(0.001, rest) : Math.clamp(rest, 0.001, 0.25));
      }
      tries = false;
      if (seconds >= next || (!controller.isAllDetached() && cost() > 1.2 * last)) {
        tries = period();
      }
    }

    private boolean period() {
      pass(TRIAL_SECONDS);
      DetailLevels before = controller.levels();
      last = cost();
      Map<EventClass, Double> known = new EnumMap<>(EventClass.class);
      for (EventClass events : EventClass.values()) {
        if (before.of(events) != DetailLevel.DETACHED) {
          known.put(events, of(usual, events) * times / budget);
        }
      }
      DetailLevels levels = controller.period(new Load(last / budget, known), nanos());
      double change = switching(before, levels);
      spend(change);
      if (!levels.equals(before)) {
        controller.switched(change / budget * 1e9, nanos());
      }
      boolean urgent = !levels.equals(before) || controller.isUrgent();
      next = urgent ? 0 : seconds + controller.restNanos(nanos()) / 1e9;
      return !levels.equals(before) && controller.isTrying();
    }

    private static double switching(DetailLevels before, DetailLevels levels) {
      double change = 0;
      for (EventClass events : EventClass.values()) {
        boolean was = before.of(events) == DetailLevel.DETACHED;
        change += was != (levels.of(events) == DetailLevel.DETACHED) ? of(CHANGES, events) / 2 : 0;
      }
      return change;
    }

    private void pass(double length) {
      for (double end = seconds + length; seconds < end && missed.isEmpty(); ) {
        double step = Math.min(STEP_SECONDS, end - seconds);
        seconds += step;
        spend(cost() * step);
        if (isOff(EventClass.REQUESTS)) {
          visible = seconds;
        }
        check();
        if (seconds >= changes) {
          change();
        }
      }
    }

    private void spend(double cost) {
      spent.add(new double[] {seconds, cost});
      recent += cost;
      while (spent.getFirst()[0] <= seconds - SETTLED_SECONDS) {
        recent -= spent.removeFirst()[1];
      }
    }

    private void check() {
      double used = recent / SETTLED_SECONDS;
      if (seconds - changed >= 2 * SETTLED_SECONDS && used > BAR * budget) {
        missed.add(at() + "uses %.2f of the budget".formatted(used / budget));
      }
      for (EventClass events : EventClass.values()) {
        requireDetail(events, used);
      }
    }

    /** Fails if the class's next level fits, with the time to attach and to detach it. */
    private void requireDetail(EventClass events, double used) {
      DetailLevel level = controller.levels().of(events);
      double since = seconds - (events == EventClass.REQUESTS ? changed : visible);
      if (level == DetailLevel.FULL || waits(events) || since < SETTLED_SECONDS) {
        fitsSince.remove(events);
        return;
      }
      boolean off = level == DetailLevel.DETACHED;
      DetailLevel higher = off && events == EventClass.REQUESTS ? DetailLevel.FULL : level.higher();
      double more = (SHARES[higher.number()] - SHARES[level.number()]) * of(usual, events) * times;
      double trial = off ? of(CHANGES, events) / SETTLED_SECONDS : 0;
      boolean first = since < SETTLED_SECONDS + STEP_SECONDS;
      if (Math.max(used, cost()) + more + trial > AIM * budget) {
        fitsSince.remove(events);
      } else if (first
          || seconds - fitsSince.computeIfAbsent(events, any -> seconds) > REST_SECONDS) {
        missed.add(
            at()
                + "%s is %s: used %.2f + %.2f + %.2f of the budget"
                    .formatted(events, level, used / budget, more / budget, trial / budget));
      }
    }

    /**
     * Returns whether a class cannot be attached yet: launches need other calls, and all need the
     * recognition of requests. While that is detached, nothing shows that the load has fallen, so
     * it is tried as often as a fifth of the budget allows.
     */
    private boolean waits(EventClass events) {
      if (events == EventClass.REQUESTS) {
        double trial = of(CHANGES, events) + TRIAL_SECONDS * 10 * of(usual, events);
        return trial > 0.2 * (SETTLED_SECONDS - 2 * TRIAL_SECONDS) * budget;
      }
      return isOff(EventClass.REQUESTS)
          || (events == EventClass.LAUNCHES && isOff(EventClass.CALLS));
    }

    private static double of(Map<EventClass, Double> seconds, EventClass events) {
      return seconds.getOrDefault(events, 0.0);
    }

    private boolean isOff(EventClass events) {
      return controller.levels().of(events) == DetailLevel.DETACHED;
    }

    private String at() {
      return "run %d, budget %.1f %%, %.2f s after load x%d: "
          .formatted(seed, 100 * budget, seconds - changed, times);
    }

    private double cost() {
      double cost = own;
      for (EventClass events : EventClass.values()) {
        cost += of(usual, events) * times * SHARES[controller.levels().of(events).number()];
      }
      return cost;
    }

    private long nanos() {
      return (long) (seconds * 1e9);
    }
  }
}
