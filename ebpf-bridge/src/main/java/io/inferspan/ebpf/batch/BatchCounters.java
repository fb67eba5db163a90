package io.inferspan.ebpf.batch;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of engine steps and their members, by outcome. Any thread may read them.
 *
 * <p>A member is a request in a step. A slot is the engine's number, in one rank, for a request or
 * for one of its parallel samples.
 */
public final class BatchCounters {

  private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);

  /** A counter. */
  public enum Count {
    /** Steps whose start was read, or that were derived from an engine's messages. */
    STEPS,
    /** Steps whose start was lost. */
    MISSED_STEPS,
    /**
     * Steps whose members are unknown: changes of an earlier step, or the step's own outputs, were
     * not read.
     */
    UNKNOWN_STEPS,
    /**
     * Steps with missing data: their end, launches or wait were not observed, or another record was
     * lost meanwhile.
     */
    INCOMPLETE_STEPS,
    /** Members whose request is unknown, once for each step. */
    UNIDENTIFIED_SLOTS,
    /** Slots that share an {@code x-request-id} with another live request. */
    AMBIGUOUS_SLOTS,
    /** Launches that cannot be attributed to one step because no plugin marks steps. */
    AMBIGUOUS_LAUNCHES,
    /** Engines whose messages match no known release. */
    REFUSED_ENGINES,
    /** Collectives that are equal to the collective of the same sequence number on another rank. */
    PAIRED_COLLECTIVES,
    /** Collectives that differ from the collective of the same sequence number on another rank. */
    ORDER_VIOLATIONS,
    /** Requests whose spans were due to be written; only sampled requests get spans. */
    REQUESTS,
    /** Requests that were written early, and slots that were ignored, because a table was full. */
    EVICTED
  }

  BatchCounters() {
    for (Count what : Count.values()) {
      counts.put(what, new LongAdder());
    }
  }

  void add(Count what, long count) {
    Objects.requireNonNull(counts.get(what)).add(count);
  }

  void increment(Count what) {
    add(what, 1);
  }

  /** Returns the value of a counter. */
  public long of(Count what) {
    return Objects.requireNonNull(counts.get(what)).sum();
  }
}
