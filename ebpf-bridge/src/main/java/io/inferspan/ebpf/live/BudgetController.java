package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Arrays;
import java.util.List;

/**
 * Chooses the level of each class from what tracing costs.
 *
 * <p>Detail is lowered as soon as the budget is exceeded, the scheduler first and launches last, by
 * as much as the excess is worth. It is raised only after some quiet periods, in the reverse order,
 * and later each time that this proves wrong.
 */
final class BudgetController {

  /** Periods within the budget before detail is raised. */
  static final int QUIET = 4;

  private static final int MOST_QUIET = 64;

  /** A raise that is not taken back for so many periods was right. */
  private static final int TRIAL = 8;

  /** Up to which detail is raised, since estimates are wrong by some percent. */
  private static final double AIM = 0.9;

  /** To attach a class is tried only with so much of the budget to spare; its cost is unknown. */
  private static final double ROOM_TO_ATTACH = 0.3;

  /** To lower a class that costs less is not worth its detail. */
  private static final double WORTHWHILE = 0.02;

  private static final List<EventClass> ORDER = Arrays.asList(EventClass.values());

  private final double[] shares;
  private final boolean detaches;
  private DetailLevels levels = DetailLevels.FULL;
  private boolean settling;
  private int quiet;
  private int wait = QUIET;
  private int sinceRaised = TRIAL + 1;

  /**
   * Creates a controller.
   *
   * @param shares what each level costs, in units of the cost in full
   * @param detaches whether probes in libraries may be detached
   */
  BudgetController(double[] shares, boolean detaches) {
    this.shares = shares.clone();
    this.detaches = detaches;
  }

  DetailLevels levels() {
    return levels;
  }

  /** Returns the levels after a period with this cost. */
  DetailLevels period(Load load) {
    sinceRaised++;
    if (settling) {
      // In part it is still the cost of the levels before.
      settling = false;
      return levels;
    }
    DetailLevels before = levels;
    if (load.total() > 1) {
      lower(load);
    } else if (++quiet >= (load.total() < ROOM_TO_ATTACH ? QUIET : wait)) {
      raise(load);
    }
    if (sinceRaised == TRIAL) {
      wait = QUIET;
    }
    settling = !levels.equals(before);
    return levels;
  }

  private void lower(Load load) {
    quiet = 0;
    if (sinceRaised < TRIAL) {
      wait = Math.min(2 * wait, MOST_QUIET);
      sinceRaised = TRIAL + 1;
    }
    DetailLevels before = levels;
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
    if (levels.equals(before)) {
      ORDER.stream().filter(this::canLower).findFirst().ifPresent(this::lower);
    }
  }

  /** A class is counted for a period before it is detached, since estimates may be wrong. */
  private boolean losesSight(DetailLevels before, EventClass events) {
    return levels.of(events) == DetailLevel.COUNTED && before.of(events) != DetailLevel.COUNTED;
  }

  private void raise(Load load) {
    quiet = 0;
    double room = AIM - load.total();
    for (EventClass events : ORDER.reversed()) {
      while (levels.of(events) != DetailLevel.FULL) {
        boolean attaches = levels.of(events) == DetailLevel.DETACHED;
        DetailLevel next = levels.of(events).higher();
        double more =
            attaches ? 0 : load.inFull(events) * shares[next.number()] - spent(load, events);
        if (more > room || (attaches && room < ROOM_TO_ATTACH)) {
          break;
        }
        room -= more;
        set(events, next);
        sinceRaised = 0;
        if (attaches) {
          return;
        }
      }
    }
  }

  private double spent(Load load, EventClass events) {
    return load.inFull(events) * shares[levels.of(events).number()];
  }

  private boolean canLower(EventClass events) {
    DetailLevel least =
        switch (events) {
          case SCHED, SYSCALLS -> DetailLevel.DETACHED;
          case CALLS -> DetailLevel.COUNTED;
          case LAUNCHES -> detaches ? DetailLevel.DETACHED : DetailLevel.COUNTED;
        };
    return levels.of(events).compareTo(least) < 0;
  }

  private void lower(EventClass events) {
    set(events, levels.of(events).lower());
  }

  /** Probes of launches and of other calls are attached and detached together. */
  private void set(EventClass events, DetailLevel level) {
    if (events == EventClass.LAUNCHES) {
      boolean wasOff = levels.of(events) == DetailLevel.DETACHED;
      if (level == DetailLevel.DETACHED || wasOff) {
        levels = levels.with(EventClass.CALLS, level);
      }
    }
    levels = levels.with(events, level);
  }
}
