package io.inferspan.ebpf.context;

/**
 * Follows every switch, on the thread that switches: for maps that others read, whose writing costs
 * a system call each time. So it is for those who ask for it, and must be quick.
 */
public interface ContextListener {

  /** The thread serves this span from now on. */
  void published(int tid, long traceIdHigh, long traceIdLow, long spanId);

  /** The thread serves no sampled span any more, or has ended. */
  void cleared(int tid);
}
