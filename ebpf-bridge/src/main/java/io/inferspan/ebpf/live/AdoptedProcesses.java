package io.inferspan.ebpf.live;

import io.inferspan.ebpf.kernel.Adoptions;
import io.opentelemetry.api.trace.SpanContext;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adopts a process and its existing descendants. */
public final class AdoptedProcesses {

  /**
   * The maximum number of scans for processes that start during the adoption. After it, the
   * kernel's programs adopt children when they start.
   */
  private static final int LOOKS = 10;

  private final @Nullable Adoptions adoptions;
  private boolean closed;

  /**
   * Creates an instance. If {@code adoptions} is null, because the kernel refused the programs or
   * this process has another PID namespace, it adopts nothing.
   */
  AdoptedProcesses(@Nullable Adoptions adoptions) {
    this.adoptions = adoptions;
  }

  /** Adopts a process; returns its owner number, or zero if that was not possible. */
  public synchronized long adopt(int pid, SpanContext span) {
    Adoptions kernel = adoptions;
    if (closed || kernel == null) {
      return 0;
    }
    byte[] trace = span.getTraceIdBytes();
    long owner =
        kernel.adopt(pid, number(trace, 0), number(trace, 8), number(span.getSpanIdBytes(), 0));
    if (owner != 0) {
      joinDescendants(kernel, pid, owner);
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

  /** Makes later calls do nothing. Must be called before the kernel side is closed. */
  synchronized void close() {
    closed = true;
  }

  private static void joinDescendants(Adoptions adoptions, int pid, long owner) {
    Set<Long> joined = new TreeSet<>();
    for (int look = 0; look < LOOKS; look++) {
      Set<Long> fresh = descendants(pid);
      fresh.removeAll(joined);
      if (fresh.isEmpty()) {
        return;
      }
      fresh.forEach(each -> adoptions.join(each.intValue(), owner));
      joined.addAll(fresh);
    }
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
