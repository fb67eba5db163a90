package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the detail level of each event class from the cost of tracing.
 *
 * <p>When two consecutive periods exceed the budget, detail is lowered until this saves the excess:
 * first that of the scheduler's events, last that of launches. If that is not enough, requests are
 * no longer recognised. Detail is raised in the reverse order, after some time within the budget.
 * This time doubles with each raise that exceeds the budget.
 *
 * <p>The cost of a detached class is unknown, so the class is attached on trial. A fifth of the
 * budget is for trials and for attaching and detaching as such: after each of them, no class is
 * attached until a fifth of the budget for the time since then has covered what it cost.
 */
final class BudgetController {

  /** The time within the budget after which detail is raised. */
  static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long MOST_QUIET_NANOS = TimeUnit.SECONDS.toNanos(16);

  /** The interval of periods in full detail, where only a rise of the cost changes levels. */
  private static final long FULL_REST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The longest interval of periods while all classes are detached. */
  private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** A raise that lasts this long has succeeded. */
  private static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final double SHORTEST_TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

  /** The share of the budget that trials and changes may take. */
  private static final double FOR_TRIALS = 0.2;

  private static final long MOST_TRIAL_WAIT_NANOS = TimeUnit.MINUTES.toNanos(10);

  /**
   * Detail is raised up to this share of the budget, because estimates are off by a few percent.
   */
  private static final double AIM = 0.9;

  /**
   * The unused share of the budget that a trial needs, unless its class cost less when it was last
   * attached.
   */
  private static final double ROOM_TO_ATTACH = 0.3;

  /** A class with a smaller share of the cost keeps its detail. */
  private static final double WORTHWHILE = 0.02;

  /** Recognition is detached only above this cost, because no request is traced without it. */
  private static final double WORTH_ALL_REQUESTS = 0.2;

  private static final List<EventClass> ORDER = Arrays.asList(EventClass.values());

  private final double[] shares;
  private final Detachable detachable;
  private final Map<EventClass, Long> nextTrial = new EnumMap<>(EventClass.class);

  /** What the lowest level of a detached class cost when it was last attached. */
  private final Map<EventClass, Double> lastCost = new EnumMap<>(EventClass.class);

  private DetailLevels levels = DetailLevels.FULL;
  private long quietSince;
  private long wait = QUIET_NANOS;
  private long raised;
  private boolean exceeded;
  private boolean urgent;
  private @Nullable EventClass onTrial;
  private long nextAttach;

  /**
   * The classes that may be detached in addition to the scheduler and system calls.
   *
   * @param libraries probes in libraries
   * @param requests the programs that recognise requests
   */
  record Detachable(boolean libraries, boolean requests) {}

  /**
   * Creates a controller.
   *
   * @param shares the cost of each level, relative to full detail
   */
  BudgetController(double[] shares, Detachable detachable, long nowNanos) {
    this.shares = shares.clone();
    this.detachable = detachable;
    this.quietSince = nowNanos;
    this.raised = nowNanos - TRIAL_NANOS;
    this.nextAttach = nowNanos;
  }

  DetailLevels levels() {
    return levels;
  }

  /** Returns the levels for the next period, after one with this cost at the current levels. */
  DetailLevels period(Load load, long nowNanos) {
    if (load.total() > 1) {
      lower(load, nowNanos);
      return levels;
    }
    exceeded = false;
    urgent = false;
    if (nowNanos - quietSince >= (load.total() < ROOM_TO_ATTACH ? QUIET_NANOS : wait)) {
      raise(load, nowNanos);
    }
    if (nowNanos - raised >= TRIAL_NANOS) {
      wait = QUIET_NANOS;
      onTrial = null;
    }
    return levels;
  }

  /**
   * Notes that changing levels cost as much as the whole budget allows for {@code budgetNanos}.
   * Detail can be lowered at any time, but no class is attached until a fifth of the budget has
   * covered this cost.
   */
  void switched(double budgetNanos, long nowNanos) {
    nextAttach = later(Math.max(nextAttach, nowNanos), budgetNanos);
  }

  /**
   * Returns the estimated cost of tracing if this class were raised next, with the recognition of
   * requests that it needs; 0 if it is in full detail.
   */
  double next(Load load, EventClass events) {
    if (levels.of(events) == DetailLevel.FULL) {
      return 0;
    }
    double needed =
        events != EventClass.REQUESTS && isDetached(EventClass.REQUESTS)
            ? lastCost.getOrDefault(EventClass.REQUESTS, ROOM_TO_ATTACH)
            : 0;
    double more =
        isDetached(events)
            ? lastCost.getOrDefault(events, ROOM_TO_ATTACH)
            : load.inFull(events) * shares[levels.of(events).higher().number()]
                - spent(load, events);
    return load.total() + needed + more;
  }

  /** Returns how soon the next period can change levels if the cost does not rise. */
  long restNanos(long nowNanos) {
    if (levels.equals(DetailLevels.FULL)) {
      return FULL_REST_NANOS;
    }
    long trial =
        Math.max(nextAttach, nextTrial.getOrDefault(EventClass.REQUESTS, nowNanos)) - nowNanos;
    return isAllDetached() ? Math.clamp(trial, QUIET_NANOS, LONGEST_REST_NANOS) : QUIET_NANOS;
  }

  /** Returns whether all classes are detached, so that observed processes run no program. */
  boolean isAllDetached() {
    return ORDER.stream().allMatch(this::isDetached);
  }

  /** Returns whether a class is attached on trial, to measure its cost. */
  boolean isTrying() {
    return onTrial != null;
  }

  /** Returns whether the next period should follow at once, because a decision depends on it. */
  boolean isUrgent() {
    return urgent || onTrial != null;
  }

  private void lower(Load load, long nowNanos) {
    urgent = !exceeded && !isAllDetached();
    exceeded = true;
    quietSince = nowNanos;
    EventClass tried = onTrial;
    if (tried != null && 2 * spent(load, tried) >= load.total() - 1) {
      failed(tried, load, nowNanos);
      return;
    }
    if (urgent) {
      return; // It may be a burst of the JVM's compiler or garbage collector.
    }
    if (nowNanos - raised < TRIAL_NANOS) {
      wait = Math.min(2 * wait, MOST_QUIET_NANOS);
      raised = nowNanos - TRIAL_NANOS;
    }
    DetailLevels before = levels;
    lower(load, before);
    if (levels.equals(before)) {
      if (detachable.requests() && spent(load, EventClass.REQUESTS) >= WORTH_ALL_REQUESTS) {
        set(EventClass.REQUESTS, DetailLevel.DETACHED);
      } else {
        ORDER.stream().filter(this::canLower).findFirst().ifPresent(this::lower);
      }
    }
    for (EventClass events : ORDER) {
      if (isDetached(events) && before.of(events) != DetailLevel.DETACHED) {
        wait(events, load.inFull(events) * SHORTEST_TRIAL_NANOS, nowNanos);
        lastCost.put(events, load.inFull(events) * shares[lowest(events).number()]);
      }
    }
  }

  private void failed(EventClass tried, Load load, long nowNanos) {
    onTrial = null;
    double spent = spent(load, tried);
    lastCost.put(tried, spent);
    set(tried, DetailLevel.DETACHED);
    // What the bridge takes without the class is not a cost of the trial.
    double cost = spent * (nowNanos - raised);
    wait(tried, cost, nowNanos);
    switched(cost, nowNanos);
  }

  /**
   * Delays the next trial of a class. A fifth of the budget is for trials, and each detached class
   * has an equal share of it; the trial waits until that share has covered this cost.
   */
  private void wait(EventClass events, double cost, long nowNanos) {
    long rivals =
        isDetached(EventClass.REQUESTS) ? 1 : ORDER.stream().filter(this::isDetached).count();
    nextTrial.put(events, later(nowNanos, cost * Math.max(1, rivals)));
  }

  private static long later(long nanos, double cost) {
    return nanos + Math.min(MOST_TRIAL_WAIT_NANOS, (long) (cost / FOR_TRIALS));
  }

  private void lower(Load load, DetailLevels before) {
    double excess = load.total() - 1;
    for (EventClass events : ORDER) {
      while (excess > 0
          && canLower(events)
          && !losesSight(before, events)
          && spent(load, events) >= WORTHWHILE) {
        double spent = spent(load, events);
        lower(events);
        excess -= spent - spent(load, events);
      }
    }
  }

  /**
   * Returns whether lowering the class would detach it before it has spent a period at level
   * counted.
   */
  private boolean losesSight(DetailLevels before, EventClass events) {
    return levels.of(events) == DetailLevel.COUNTED && before.of(events) != DetailLevel.COUNTED;
  }

  private void raise(Load load, long nowNanos) {
    quietSince = nowNanos;
    double room = AIM - load.total();
    for (EventClass events : ORDER.reversed()) {
      if (isDetached(events) && attached(events, room, nowNanos)) {
        return;
      }
      if (events == EventClass.REQUESTS && isDetached(events)) {
        return; // Other classes have no events without recognised requests.
      }
      while (levels.of(events) != DetailLevel.FULL && !isDetached(events)) {
        DetailLevel next = levels.of(events).higher();
        double more = load.inFull(events) * shares[next.number()] - spent(load, events);
        if (more > room) {
          break;
        }
        room -= more;
        set(events, next);
        raised = nowNanos;
        onTrial = null;
      }
    }
  }

  private boolean attached(EventClass events, double room, long nowNanos) {
    // Without waits for the device, launches say little about an engine's step.
    boolean isLast = events == EventClass.LAUNCHES && isDetached(EventClass.CALLS);
    long due = Math.max(nextAttach, nextTrial.getOrDefault(events, nowNanos));
    double needed = Math.min(ROOM_TO_ATTACH, lastCost.getOrDefault(events, ROOM_TO_ATTACH));
    if (isLast || room < needed || nowNanos < due) {
      return false;
    }
    set(events, lowest(events));
    raised = nowNanos;
    onTrial = events;
    return true;
  }

  /** Returns the lowest level at which a class is attached. */
  private static DetailLevel lowest(EventClass events) {
    return events == EventClass.REQUESTS ? DetailLevel.FULL : DetailLevel.COUNTED;
  }

  private boolean isDetached(EventClass events) {
    return levels.of(events) == DetailLevel.DETACHED;
  }

  private double spent(Load load, EventClass events) {
    return load.inFull(events) * shares[levels.of(events).number()];
  }

  private boolean canLower(EventClass events) {
    DetailLevel least =
        switch (events) {
          case SCHED, SYSCALLS -> DetailLevel.DETACHED;
          case CALLS ->
              isDetached(EventClass.LAUNCHES) ? DetailLevel.DETACHED : DetailLevel.COUNTED;
          case LAUNCHES -> detachable.libraries() ? DetailLevel.DETACHED : DetailLevel.COUNTED;
          case REQUESTS -> DetailLevel.FULL;
        };
    return levels.of(events).compareTo(least) < 0;
  }

  private void lower(EventClass events) {
    set(events, levels.of(events).lower());
  }

  /** Sets a level. The programs that recognise requests also report system calls. */
  private void set(EventClass events, DetailLevel level) {
    if (events == EventClass.REQUESTS && level == DetailLevel.DETACHED) {
      levels = levels.with(EventClass.SYSCALLS, level);
    }
    levels = levels.with(events, level);
  }
}
