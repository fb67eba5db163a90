package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a bridge. Thread-safe.
 *
 * <p>After {@link #close}, all methods return the last values, because meters may be read after the
 * bridge has closed.
 */
public final class KernelCounters implements Counters, AutoCloseable {

  private final BpfMap counters;
  private @Nullable Counters last;

  /** Reads the map {@code counters} of a bridge in this or another process. */
  public KernelCounters(BpfMap counters) {
    this.counters = counters;
  }

  @Override
  public synchronized long at(int index) {
    return last == null ? counters.percpuSum(index) : last.at(index);
  }

  /** Returns a copy of the current values. */
  public synchronized Counters snapshot() {
    if (last != null) {
      return last;
    }
    long[] values = new long[counters.maxEntries()];
    for (int index = 0; index < values.length; index++) {
      values[index] = counters.percpuSum(index);
    }
    return index -> values[index];
  }

  @Override
  public synchronized void close() {
    last = snapshot();
  }

  /** Returns a kind's name in meters and in a status, such as {@code cuda.launch}. */
  public static String nameOf(Kind kind) {
    Family family = kind.family();
    return family.name().toLowerCase(Locale.ROOT) + "." + kind.call();
  }
}
