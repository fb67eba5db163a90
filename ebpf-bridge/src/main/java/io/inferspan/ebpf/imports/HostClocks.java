package io.inferspan.ebpf.imports;

import io.inferspan.ebpf.clock.ClockOffset;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of a communicator's hosts, compared with the clock of the first rank's host, the
 * reference.
 *
 * <p>A collective that needs the data of all ranks cannot end on any of them before all have
 * enqueued it, so each such collective is a message from every host to every other host.
 */
final class HostClocks {

  /** Collectives in which each rank needs the data of all ranks. */
  private static final Set<String> MUTUAL =
      Set.of("all_reduce", "all_gather", "reduce_scatter", "all_to_all");

  /** The maximum error of timestamps, which are truncated to microseconds. */
  private static final long TRUNCATION_NANOS = 1_000;

  private final Map<String, NavigableMap<Long, Interval>> known = new HashMap<>();
  private long violations;

  /**
   * When the last rank of a host enqueued a collective, and when the first rank of the host ended
   * it.
   */
  private record Part(long enqueuedNanos, long endNanos) {

    private Part and(Part other) {
      return new Part(
          Math.max(enqueuedNanos, other.enqueuedNanos), Math.min(endNanos, other.endNanos));
    }
  }

  /** A collective; each kind has sequence numbers of its own. */
  private record Collective(String call, long sequence) {}

  private record Shared(Part our, Map<String, Part> others) {}

  HostClocks(List<NcclOperation> operations) {
    String ours =
        operations.stream()
            .map(NcclOperation::rank)
            .min(Comparator.comparingLong(NcclOperation.Rank::number))
            .orElseThrow()
            .host();
    Map<Collective, Map<String, Part>> collectives = new HashMap<>();
    for (NcclOperation one : operations) {
      if (one.traced() && MUTUAL.contains(one.call())) {
        collectives
            .computeIfAbsent(new Collective(one.call(), one.sequence()), any -> new HashMap<>())
            .merge(one.rank().host(), new Part(one.enqueuedNanos(), one.endNanos()), Part::and);
      }
    }
    Map<String, ClockOffset> clocks = new HashMap<>();
    for (Shared one : shared(collectives.values(), ours)) {
      boolean contradicts = false;
      for (Map.Entry<String, Part> other : one.others.entrySet()) {
        ClockOffset clock = clocks.computeIfAbsent(other.getKey(), any -> new ClockOffset());
        contradicts |= compare(other.getKey(), clock, one.our, other.getValue());
      }
      violations += contradicts ? 1 : 0;
    }
  }

  /** Returns the collectives that our host takes part in, in the order of their ends. */
  private static List<Shared> shared(Collection<Map<String, Part>> collectives, String ours) {
    List<Shared> shared = new ArrayList<>();
    for (Map<String, Part> parts : collectives) {
      Part our = parts.remove(ours);
      if (our != null) {
        shared.add(new Shared(our, parts));
      }
    }
    shared.sort(Comparator.comparingLong(one -> one.our.endNanos));
    return shared;
  }

  /** Adds a collective to the estimate of a clock; returns whether it contradicts the estimate. */
  private boolean compare(String host, ClockOffset clock, Part our, Part their) {
    long before = clock.timesSet();
    clock.sent(our.enqueuedNanos, their.endNanos + TRUNCATION_NANOS);
    clock.received(their.enqueuedNanos, our.endNanos + TRUNCATION_NANOS);
    Interval interval = clock.at(our.endNanos);
    if (interval != null) {
      known.computeIfAbsent(host, any -> new TreeMap<>()).put(their.endNanos, interval);
    }
    return clock.timesSet() > before;
  }

  /**
   * Returns the offset of the clock that timed an operation; null if it is unknown, or if that
   * clock is the reference.
   */
  @Nullable Interval of(NcclOperation operation) {
    NavigableMap<Long, Interval> intervals = known.get(operation.rank().host());
    if (intervals == null) {
      return null;
    }
    Map.Entry<Long, Interval> last = intervals.floorEntry(operation.endNanos());
    return (last == null ? intervals.firstEntry() : last).getValue();
  }

  /**
   * Returns how often a collective ended, by the compared clocks, before another host enqueued it.
   */
  long violations() {
    return violations;
  }
}
