package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;

/** What levels cost and how low they can be. */
final class BudgetLevels {

  /** Recognition is detached only above this total cost: measurements are off by a few percent. */
  private static final double MUCH = 1.07;

  /** The cost of a single period that confirms it. */
  private static final double ALONE = 1;

  private final double[] shares;
  private final BudgetController.Detachable detachable;

  BudgetLevels(double[] shares, BudgetController.Detachable detachable) {
    this.shares = shares.clone();
    this.detachable = detachable;
  }

  double share(DetailLevel level) {
    return shares[level.number()];
  }

  double spent(Load load, DetailLevels levels, EventClass events) {
    return load.inFull(events) * share(levels.of(events));
  }

  /** Returns whether a class is not at its lowest level; calls are detached only after launches. */
  boolean canLower(DetailLevels levels, EventClass events) {
    boolean last =
        events == EventClass.CALLS && levels.of(EventClass.LAUNCHES) != DetailLevel.DETACHED;
    return levels.of(events).compareTo(last ? DetailLevel.COUNTED : lowest(events)) < 0;
  }

  /**
   * Returns the cost of the bridge and of recognising requests; 0 while another class costs {@code
   * worthwhile} more than at its lowest level.
   */
  double withoutOthers(Load load, DetailLevels levels, double worthwhile) {
    double cost = load.least();
    for (EventClass events : EventClass.values()) {
      double removable = spent(load, levels, events) - load.inFull(events) * share(lowest(events));
      if (removable >= worthwhile) {
        return 0;
      }
      cost -= removable;
    }
    return cost;
  }

  /** Returns whether a total cost, of which some is an average, is too high in this period, too. */
  static boolean isMuch(double total, double alone) {
    return total >= MUCH && alone >= ALONE;
  }

  private DetailLevel lowest(EventClass events) {
    return switch (events) {
      case SCHED, SYSCALLS -> DetailLevel.DETACHED;
      case CALLS, LAUNCHES -> detachable.libraries() ? DetailLevel.DETACHED : DetailLevel.COUNTED;
      case REQUESTS -> DetailLevel.FULL; // They are detached only if nothing else helps.
    };
  }
}
