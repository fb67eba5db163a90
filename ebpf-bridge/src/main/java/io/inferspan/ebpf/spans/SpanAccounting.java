package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.Kind;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the events that were read from the ring, by outcome.
 *
 * <p>Whenever no event is being handled, {@code consumed == emitted + folded + control + dropped +
 * held}. The ring's thread writes, and any thread may read. The kernel side counts the events that
 * it produced, and those of them that did not fit into the ring; the rest is consumed, or still in
 * the ring.
 */
public final class SpanAccounting {

  private final AtomicLongArray consumedByKind = new AtomicLongArray(Kind.NUMBERS + 1);
  private final Map<Drop, AtomicLong> dropped = new EnumMap<>(Drop.class);
  private final AtomicLong consumed = new AtomicLong();
  private final AtomicLong emitted = new AtomicLong();
  private final AtomicLong folded = new AtomicLong();
  private final AtomicLong folds = new AtomicLong();
  private final AtomicLong control = new AtomicLong();
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong evicted = new AtomicLong();

  /** Creates counters at zero. */
  public SpanAccounting() {
    for (Drop reason : Drop.values()) {
      dropped.put(reason, new AtomicLong());
    }
  }

  /** The reasons why an event is in no span. */
  public enum Drop {
    /** It was too short or too long, ended before it started, or had no owner. */
    MALFORMED,
    /** Its kind is unknown to this version. */
    UNKNOWN_KIND,
    /** The event that introduces its owner was lost, and the owner could not be looked up. */
    UNKNOWN_OWNER,
    /** Handling it threw an exception. */
    FAILED
  }

  /** Adds without a locked instruction, because only one thread writes. */
  private static void add(AtomicLong counter, long count) {
    counter.setOpaque(counter.getPlain() + count);
  }

  private static void increment(AtomicLongArray counters, int index) {
    counters.setOpaque(index, counters.getPlain(index) + 1);
  }

  void countConsumed(int kind) {
    add(consumed, 1);
    increment(consumedByKind, Math.min(kind, Kind.NUMBERS));
  }

  void countHeld() {
    add(held, 1);
  }

  void countControl() {
    add(control, 1);
  }

  void countDropped(Drop reason) {
    add(of(reason), 1);
  }

  void countUnowned(long events) {
    add(of(Drop.UNKNOWN_OWNER), events);
    add(held, -events);
  }

  void countEmitted() {
    add(emitted, 1);
    add(held, -1);
  }

  void countFolded(long events) {
    add(folded, events);
    add(folds, 1);
    add(held, -events);
  }

  void countEvicted() {
    add(evicted, 1);
  }

  /** Returns the number of events that were read from the ring. */
  public long consumed() {
    return consumed.getOpaque();
  }

  /** Returns the number of events of a kind that were read from the ring. */
  public long consumed(Kind kind) {
    return consumedByKind.getOpaque(kind.number());
  }

  /** Returns the number of events with a span of their own. */
  public long emitted() {
    return emitted.getOpaque();
  }

  /** Returns the number of events that share a span. */
  public long folded() {
    return folded.getOpaque();
  }

  /** Returns the number of spans that represent several events. */
  public long folds() {
    return folds.getOpaque();
  }

  /** Returns the number of events about requests, processes and libraries. */
  public long control() {
    return control.getOpaque();
  }

  /** Returns the number of events that are not written yet. */
  public long held() {
    return held.getOpaque();
  }

  /** Returns the number of events dropped for a reason. */
  public long dropped(Drop reason) {
    return of(reason).getOpaque();
  }

  private AtomicLong of(Drop reason) {
    return Objects.requireNonNull(dropped.get(reason));
  }

  /** Returns the number of dropped events. */
  public long dropped() {
    long total = 0;
    for (AtomicLong count : dropped.values()) {
      total += count.getOpaque();
    }
    return total;
  }

  /** Returns the number of requests that were written early because there were too many. */
  public long evicted() {
    return evicted.getOpaque();
  }
}
