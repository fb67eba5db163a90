package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The counters of the programs. Thread-safe.
 *
 * <p>After closing it returns the last values, since meters are read for longer than a bridge
 * lasts.
 */
public final class KernelCounters implements AutoCloseable {

  private static final int JUDGED = 640;
  private static final int POLICY_ROWS = 128;
  private static final int SHED = 780;

  private final BpfMap counters;
  private final Map<Integer, Long> last = new HashMap<>();
  private boolean closed;

  /** Reads the map {@code counters} of one bridge, this one or another's. */
  public KernelCounters(BpfMap counters) {
    this.counters = counters;
  }

  /** Returns the events of this kind, including those that were lost. */
  public long produced(Kind kind) {
    return count(kind.number());
  }

  /** Returns the events of all kinds. */
  public long produced() {
    long sum = 0;
    for (Kind kind : Kind.values()) {
      sum += produced(kind);
    }
    return sum;
  }

  /** Returns the events lost for this reason. */
  public long lost(KernelLoss reason) {
    return count(reason.index());
  }

  /** Returns the events lost for all reasons. */
  public long lost() {
    long sum = 0;
    for (KernelLoss reason : KernelLoss.values()) {
      sum += lost(reason);
    }
    return sum;
  }

  /** Returns a count of recognised requests. */
  public long count(ContextCount what) {
    return count(what.index());
  }

  /** Returns how many calls a policy kept, folded or dropped in one of these ways. */
  public long count(PolicyCount what) {
    if (what != PolicyCount.FLOOR) {
      return count(what.index());
    }
    long asked = count(PolicyCount.KEPT) + count(PolicyCount.FOLDED) + count(PolicyCount.DROPPED);
    return Math.max(0, judged() - asked);
  }

  /** Returns the events of a class that were folded or counted because its level was lowered. */
  public long shed(EventClass events) {
    return count(SHED + events.number());
  }

  /** Returns the calls that were to be judged, whatever became of them. */
  public long judged() {
    long sum = 0;
    for (int index = JUDGED; index < JUDGED + POLICY_ROWS; index++) {
      sum += count(index);
    }
    return sum;
  }

  private synchronized long count(int index) {
    return closed ? last.getOrDefault(index, 0L) : counters.percpuSum(index);
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    for (Kind kind : Kind.values()) {
      keep(kind.number());
    }
    for (KernelLoss reason : KernelLoss.values()) {
      keep(reason.index());
    }
    for (ContextCount what : ContextCount.values()) {
      keep(what.index());
    }
    for (PolicyCount what : PolicyCount.values()) {
      keep(what.index());
    }
    for (int index = JUDGED; index < JUDGED + POLICY_ROWS; index++) {
      keep(index);
    }
    for (EventClass events : EventClass.values()) {
      keep(SHED + events.number());
    }
    closed = true;
  }

  private void keep(int index) {
    last.put(index, counters.percpuSum(index));
  }

  /** Returns a kind's name in meters and in a status, such as {@code cuda.launch}. */
  public static String nameOf(Kind kind) {
    Family family = kind.family();
    return family.name().toLowerCase(Locale.ROOT) + "." + kind.call();
  }
}
