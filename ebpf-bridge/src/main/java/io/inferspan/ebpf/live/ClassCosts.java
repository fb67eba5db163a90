package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The cost of each class in full detail: as last measured, scaled since then by how the cost of the
 * attached classes has changed.
 */
final class ClassCosts {

  /**
   * Costs below this share of the budget do not show whether the load has changed: a few system
   * calls of any process multiply them.
   */
  private static final double SHOWS_LOAD = 0.1;

  private EnumMap<EventClass, Double> known = new EnumMap<>(EventClass.class);

  /** The costs when sleep began; null while awake. */
  private @Nullable EnumMap<EventClass, Double> awake;

  /** Returns the cost of a class; null if it was never measured. */
  @Nullable Double of(EventClass events) {
    return known.get(events);
  }

  /** Records the costs of attached classes, and scales those of detached ones with the load. */
  void follow(Load load, DetailLevels levels) {
    Map<EventClass, Double> attached = new EnumMap<>(EventClass.class);
    load.inFull()
        .forEach(
            (events, cost) -> {
              if (levels.of(events) != DetailLevel.DETACHED) {
                attached.put(events, cost);
              }
            });
    double before = 0;
    double now = 0;
    for (Map.Entry<EventClass, Double> each : attached.entrySet()) {
      Double last = known.get(each.getKey());
      before += last == null ? 0 : last;
      now += last == null ? 0 : each.getValue();
    }
    double change = Math.max(now, SHOWS_LOAD) / Math.max(before, SHOWS_LOAD);
    known.replaceAll((events, cost) -> cost * change);
    known.putAll(attached);
  }

  /**
   * Notes that the bridge fell asleep or woke. Costs measured while asleep do not show what the
   * classes cost afterwards.
   */
  void sleep(boolean asleep) {
    if (asleep && awake == null) {
      awake = new EnumMap<>(known);
    } else if (!asleep && awake != null) {
      known = awake;
      awake = null;
    }
  }
}
