package io.inferspan.ebpf.batch;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** What became of steps and members; any thread may read. */
public final class BatchCounters {

  private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);

  /** What is counted. */
  public enum Count {
    /** Steps whose begin was read. */
    STEPS,
    /** Steps whose begin was lost. */
    MISSED_STEPS,
    /** Steps whose members are not known, since an earlier step's changes were lost. */
    UNKNOWN_STEPS,
    /** Steps whose end or launches were lost, or in whose time any record was. */
    INCOMPLETE_STEPS,
    /** Slots that were scheduled without a known request. */
    UNIDENTIFIED_SLOTS,
    /** Slots that share an {@code x-request-id} with another live request. */
    AMBIGUOUS_SLOTS,
    /** Launches that may be of one step or another, since no plugin marks steps. */
    AMBIGUOUS_LAUNCHES,
    /** Engines whose messages are of no known release. */
    REFUSED_ENGINES,
    /** Requests whose part in steps was written. */
    REQUESTS,
    /** Requests and slots that were forgotten for want of room. */
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

  /** How many there were. */
  public long of(Count what) {
    return Objects.requireNonNull(counts.get(what)).sum();
  }
}
