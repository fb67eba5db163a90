package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.EventClass;
import java.util.Map;

/**
 * What tracing cost in one period, in units of the budget.
 *
 * @param total all of it
 * @param inFull what each class would have cost in full, as an estimate; nothing if it is detached
 */
record Load(double total, Map<EventClass, Double> inFull) {

  Load {
    inFull = Map.copyOf(inFull);
  }

  double inFull(EventClass events) {
    return inFull.getOrDefault(events, 0.0);
  }
}
