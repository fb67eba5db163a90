package io.inferspan.ebpf.context;

/**
 * Observes every context switch on the thread that switches. It serves maps for other programs,
 * where each update costs a system call, and so is optional. Implementations must be quick.
 */
public interface ContextListener {

  /** Called when the thread starts serving this span. */
  void published(int tid, long traceIdHigh, long traceIdLow, long spanId);

  /** Called when the thread no longer serves a sampled span, or has ended. */
  void cleared(int tid);
}
