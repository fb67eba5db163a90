package io.inferspan.ebpf.live;

import io.inferspan.ebpf.kernel.Adoptions;
import io.opentelemetry.api.trace.SpanContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adopts processes: attributes a process and its existing descendants to a span. */
public final class AdoptedProcesses {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  /**
   * The maximum number of scans for descendants. A scan can miss children whose parent is not
   * adopted yet; the kernel's programs adopt children of adopted processes.
   */
  private static final int SCANS = 10;

  private final @Nullable Adoptions adoptions;
  private boolean closed;
  private boolean warned;

  /**
   * Creates an instance, which adopts nothing if {@code adoptions} is null: the kernel refused the
   * programs, or this process is not in the initial PID namespace.
   */
  AdoptedProcesses(@Nullable Adoptions adoptions) {
    this.adoptions = adoptions;
  }

  /**
   * Adopts a process; returns the owner number of its events, or zero if it could not be adopted.
   */
  public synchronized long adopt(int pid, SpanContext span) {
    Adoptions kernel = adoptions;
    if (closed || kernel == null) {
      return 0;
    }
    byte[] trace = span.getTraceIdBytes();
    long owner =
        kernel.adopt(pid, number(trace, 0), number(trace, 8), number(span.getSpanIdBytes(), 0));
    if (owner != 0) {
      boolean complete =
          joinDescendants(() -> descendants(pid), each -> kernel.join((int) each, owner));
      if (!complete && !warned) {
        warned = true;
        LOGGER.log(
            Level.WARNING,
            "Each of {0} scans found new descendants of process {1}; some may not be attributed to"
                + " its span. Adopt a process before it starts many others.",
            SCANS,
            Integer.toString(pid));
      }
    }
    // The process may have exited before its exit could be observed.
    if (owner != 0 && ProcessHandle.of(pid).isEmpty()) {
      kernel.release(owner);
      return 0;
    }
    return owner;
  }

  /** Ends an adoption. Idempotent. */
  public synchronized void release(long owner) {
    Adoptions kernel = adoptions;
    if (!closed && kernel != null) {
      kernel.release(owner);
    }
  }

  /** Disables the other methods. Must be called before the kernel side is closed. */
  synchronized void close() {
    closed = true;
  }

  /** Joins descendants until a scan finds no new one; returns false if the last scan found one. */
  static boolean joinDescendants(Supplier<Set<Long>> descendants, LongConsumer join) {
    Set<Long> joined = new TreeSet<>();
    for (int scan = 0; scan < SCANS; scan++) {
      Set<Long> fresh = descendants.get();
      fresh.removeAll(joined);
      if (fresh.isEmpty()) {
        return true;
      }
      fresh.forEach(join::accept);
      joined.addAll(fresh);
    }
    return false;
  }

  private static Set<Long> descendants(int pid) {
    return ProcessHandle.of(pid).stream()
        .flatMap(ProcessHandle::descendants)
        .map(ProcessHandle::pid)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static long number(byte[] bytes, int at) {
    long number = 0;
    for (int i = at; i < at + Long.BYTES; i++) {
      number = (number << Byte.SIZE) | (bytes[i] & 0xff);
    }
    return number;
  }
}
