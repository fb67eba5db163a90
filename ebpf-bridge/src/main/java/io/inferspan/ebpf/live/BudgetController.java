package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the detail level of each event class from the cost of tracing.
 *
 * <p>When two consecutive periods exceed the budget, detail is lowered until this saves the excess:
 * first that of the scheduler's events, last that of launches. If then two more consecutive periods
 * exceed the budget, requests are no longer recognised. Detail is raised in the reverse order,
 * after some time within the budget.
 *
 * <p>The cost of a detached class is estimated: it is the last measured cost, scaled by the change
 * in the cost of the attached classes. Since the estimate may be wrong, the class is attached on
 * trial. If it should fit, the unused part of the budget pays for attaching it. Otherwise, it is
 * tried only as often as a fifth of the budget pays for.
 *
 * <p>While the bridge sleeps, only the recognition of requests and the probes on collectives can
 * exceed the budget. The levels of the other classes are kept for the next request.
 */
final class BudgetController {

  /** The time within the budget after which detail is raised. */
  static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The interval of periods in full detail, where only a rise of the cost changes levels. */
  private static final long FULL_REST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The longest interval of periods while all classes are detached. */
  private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(4);

  private static final double SHORTEST_TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

  /** Detail is raised up to this share of the budget: estimates are off by a few percent. */
  private static final double AIM = 0.9;

  /** The unused share of the budget that is needed to try a class that probably does not fit. */
  private static final double ROOM_TO_TRY = 0.06;

  /** The assumed cost of a detached class that was never measured. */
  private static final double ASSUMED_COST = 0.3;

  /** A class with a smaller share of the cost keeps its detail. */
  private static final double WORTHWHILE = 0.02;

  /** Recognition is detached only above this cost, because no request is traced without it. */
  private static final double WORTH_ALL_REQUESTS = 0.2;

  /** A lower total cost is not measured again at once: measurements are off by a few percent. */
  private static final double MUCH = 1.1;

  private static final List<EventClass> ORDER = Arrays.asList(EventClass.values());

  private final BudgetLevels costs;
  private final Detachable detachable;
  private final ClassCosts known = new ClassCosts();
  private final ChangeCosts changes;

  private DetailLevels levels = DetailLevels.FULL;
  private long quietSince;
  private long attachedNanos;
  private boolean exceeded;
  private boolean urgent;

  /** Whether the last period exceeded the budget even without the classes that can be lowered. */
  private boolean requestsExceed;

  private @Nullable EventClass onTrial;
  private boolean asleep;
  private boolean collectivesOff;

  /** The unused share of the budget in the last period that did not exceed it. */
  private double unused;

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
    this.costs = new BudgetLevels(shares, detachable);
    this.detachable = detachable;
    this.quietSince = nowNanos;
    this.attachedNanos = nowNanos;
    this.changes = new ChangeCosts(nowNanos);
  }

  DetailLevels levels() {
    return levels;
  }

  /** Notes that the bridge fell asleep or woke up; no period spans this moment. */
  void sleep(boolean sleeps, long nowNanos) {
    asleep = sleeps;
    collectivesOff = false;
    known.sleep(sleeps);
    exceeded = false;
    requestsExceed = false;
    urgent = false;
    onTrial = null;
    quietSince = nowNanos;
  }

  /** Returns whether the probes on collectives do not fit while the bridge sleeps. */
  boolean areCollectivesOff() {
    return collectivesOff;
  }

  /** Returns the levels for the next period, after one with this cost at the current levels. */
  DetailLevels period(Load load, long nowNanos) {
    known.follow(load, levels);
    changes.pay(unused, nowNanos);
    if (load.total() > 1) {
      lower(load, nowNanos);
      return levels;
    }
    exceeded = false;
    requestsExceed = false;
    urgent = false;
    unused = Math.max(0, AIM - load.total());
    onTrial = null;
    boolean mayRaise = !asleep || isDetached(EventClass.REQUESTS);
    if (mayRaise && nowNanos - quietSince >= QUIET_NANOS) {
      raise(load, nowNanos);
    }
    return levels;
  }

  /** Returns what the class probably costs at the lowest level at which it is attached. */
  private double attachedCost(EventClass events) {
    Double cost = known.of(events);
    return cost == null ? ASSUMED_COST : cost * costs.share(lowest(events));
  }

  /**
   * Notes the cost of a change of levels. Until the unused part of the budget has covered it, no
   * probes are attached. A class that probably does not fit waits until a fifth of the budget has.
   *
   * @param budgetNanos the time in which the whole budget covers the cost
   */
  void switched(double budgetNanos, long nowNanos) {
    changes.add(budgetNanos, unused, nowNanos);
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
            ? attachedCost(EventClass.REQUESTS)
            : 0;
    double more =
        isDetached(events)
            ? attachedCost(events)
            : load.inFull(events) * costs.share(levels.of(events).higher()) - spent(load, events);
    return load.total() + needed + more;
  }

  /** Returns how soon the next period can change levels if the cost does not rise. */
  long restNanos(long nowNanos) {
    boolean off = isDetached(EventClass.REQUESTS);
    if (levels.equals(DetailLevels.FULL) || (asleep && !off)) {
      return FULL_REST_NANOS;
    }
    if (isAllDetached() || (asleep && off)) {
      EventClass first = EventClass.REQUESTS;
      long due =
          attachedCost(first) <= unused
              ? nowNanos + changes.untilPaidNanos(0, unused)
              : changes.nextTrial(first, nowNanos);
      return due > nowNanos ? Math.min(due - nowNanos, LONGEST_REST_NANOS) : QUIET_NANOS;
    }
    long due = changes.untilPaidNanos(ChangeCosts.MOST_DEBT_NANOS, unused);
    boolean waits =
        due > 0
            && ORDER.stream().anyMatch(each -> isDetached(each) && attachedCost(each) <= unused);
    return waits ? Math.min(due, QUIET_NANOS) : QUIET_NANOS;
  }

  /** Returns whether all classes are detached, so that observed processes run no program. */
  boolean isAllDetached() {
    return asleep
        ? isDetached(EventClass.REQUESTS) && (collectivesOff || isDetached(EventClass.CALLS))
        : ORDER.stream().allMatch(this::isDetached);
  }

  /** Returns whether a class is attached on trial, to measure its cost. */
  boolean isTrying() {
    return onTrial != null;
  }

  /** Returns whether the next period should follow at once, because a decision depends on it. */
  boolean isUrgent() {
    return urgent || onTrial != null;
  }

  /** Returns whether the next period decides whether requests are still recognised. */
  boolean isConfirming() {
    return requestsExceed;
  }

  private void lower(Load load, long nowNanos) {
    boolean again = requestsExceed;
    requestsExceed = false;
    urgent = !exceeded && !isAllDetached() && load.total() >= MUCH;
    exceeded = true;
    quietSince = nowNanos;
    EventClass tried = onTrial;
    onTrial = null;
    if (tried != null && 2 * spent(load, tried) >= load.total() - 1) {
      failed(tried, load, nowNanos);
      return;
    }
    requestsExceed = exceedsWithoutOthers(load, WORTHWHILE);
    urgent |= requestsExceed && !again;
    if (urgent) {
      return; // It may be a burst of the JVM's compiler or garbage collector.
    }
    DetailLevels before = levels;
    if (requestsExceed) {
      set(EventClass.REQUESTS, DetailLevel.DETACHED);
    } else if (!asleep) {
      lower(load, before);
    } else if (!collectivesOff && load.inFull(EventClass.CALLS) >= WORTHWHILE) {
      collectivesOff = true;
      return;
    }
    if (levels.equals(before) && !asleep) {
      ORDER.stream().filter(this::canLower).findFirst().ifPresent(this::lower);
    }
    for (EventClass events : ORDER) {
      if (isDetached(events) && before.of(events) != DetailLevel.DETACHED) {
        wait(events, load.inFull(events) * SHORTEST_TRIAL_NANOS, nowNanos);
      }
    }
  }

  /** Returns whether the period exceeds the budget although other classes are at their lowest. */
  private boolean exceedsWithoutOthers(Load load, double worthwhile) {
    boolean others = asleep && !collectivesOff && load.inFull(EventClass.CALLS) >= WORTHWHILE;
    double cost = asleep ? load.least() : costs.withoutOthers(load, levels, worthwhile);
    return detachable.requests()
        && !others
        && BudgetLevels.isMuch(load.total(), cost)
        && spent(load, EventClass.REQUESTS) >= WORTH_ALL_REQUESTS;
  }

  private void failed(EventClass tried, Load load, long nowNanos) {
    double spent = spent(load, tried);
    set(tried, DetailLevel.DETACHED);
    // The bridge's cost without the class is not a cost of the trial.
    double cost = spent * (nowNanos - attachedNanos);
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
    changes.delayTrial(events, cost * Math.max(1, rivals), nowNanos);
  }

  private void lower(Load load, DetailLevels before) {
    double excess = load.total() - 1;
    boolean all = exceedsWithoutOthers(load, Double.POSITIVE_INFINITY);
    DetailLevels last;
    do {
      last = levels;
      for (EventClass events : ORDER) {
        while (excess > 0
            && canLower(events)
            && (all || !losesSight(before, events))
            && spent(load, events) >= WORTHWHILE) {
          double spent = spent(load, events);
          lower(events);
          excess -= spent - spent(load, events);
        }
      }
    } while (!levels.equals(last)); // Calls are detached only after launches.
  }

  /**
   * Returns whether lowering the class would detach it before it has spent a period at level
   * counted.
   */
  private boolean losesSight(DetailLevels before, EventClass events) {
    return levels.of(events) == DetailLevel.COUNTED && before.of(events) != DetailLevel.COUNTED;
  }

  private void raise(Load load, long nowNanos) {
    double room = AIM - load.total() - changes.reserved();
    for (EventClass events : ORDER.reversed()) {
      if (isDetached(events) && attachedCost(events) <= room && !isUseless(events)) {
        if (isPaid(events)) {
          attach(events, nowNanos);
          return;
        }
        room -= attachedCost(events); // Reserved: classes that are lowered first must not use it.
      }
      if (events == EventClass.REQUESTS && isDetached(events)) {
        break; // Other classes have no events without recognised requests.
      }
      while (levels.of(events) != DetailLevel.FULL && !isDetached(events)) {
        DetailLevel next = levels.of(events).higher();
        double more = load.inFull(events) * costs.share(next) - spent(load, events);
        if (more > room) {
          break;
        }
        room -= more;
        set(events, next);
      }
    }
    if (room >= ROOM_TO_TRY) {
      tryOne(nowNanos);
    }
  }

  /** Attaches the first class whose turn it is to be tried although it probably does not fit. */
  private void tryOne(long nowNanos) {
    for (EventClass events : ORDER.reversed()) {
      if (isDetached(events)
          && !isUseless(events)
          && nowNanos >= changes.nextTrial(events, nowNanos)) {
        attach(events, nowNanos);
        return;
      }
      if (events == EventClass.REQUESTS && isDetached(events)) {
        return;
      }
    }
  }

  /** Returns whether attaching a class that fits is paid for; system calls cost nothing. */
  private boolean isPaid(EventClass events) {
    return events == EventClass.SYSCALLS || changes.mayAttach();
  }

  /** Returns true for launches without CALLS: they say little without waits for the device. */
  private boolean isUseless(EventClass events) {
    return events == EventClass.LAUNCHES && isDetached(EventClass.CALLS);
  }

  private void attach(EventClass events, long nowNanos) {
    set(events, lowest(events));
    attachedNanos = nowNanos;
    onTrial = events;
  }

  /** Returns the lowest level at which a class is attached. */
  private static DetailLevel lowest(EventClass events) {
    return events == EventClass.REQUESTS ? DetailLevel.FULL : DetailLevel.COUNTED;
  }

  private boolean isDetached(EventClass events) {
    return levels.of(events) == DetailLevel.DETACHED;
  }

  private double spent(Load load, EventClass events) {
    return costs.spent(load, levels, events);
  }

  private boolean canLower(EventClass events) {
    return costs.canLower(levels, events);
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
