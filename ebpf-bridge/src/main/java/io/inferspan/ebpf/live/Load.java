package io.inferspan.ebpf.live;

import io.inferspan.ebpf.wire.EventClass;
import java.util.Map;

/**
 * The cost of tracing in one period, relative to the budget.
 *
 * @param total the total cost; above 1 exceeds the budget
 * @param least the total cost without what only earlier bursts of the agent's CPU time explain
 * @param inFull the estimated cost of each class in full detail; absent for a detached class. While
 *     the bridge sleeps, the cost of calls is that of the collectives
 */
record Load(double total, double least, Map<EventClass, Double> inFull) {

  Load {
    inFull = Map.copyOf(inFull);
  }

  Load(double total, Map<EventClass, Double> inFull) {
    this(total, total, inFull);
  }

  double inFull(EventClass events) {
    return inFull.getOrDefault(events, 0.0);
  }
}
