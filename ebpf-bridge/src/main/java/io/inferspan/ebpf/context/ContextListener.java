package io.inferspan.ebpf.context;

/**
 * Observes which span is current on each thread, to share it with other tools. Its methods are
 * called on that thread. The listener is optional, because each update costs a system call.
 */
public interface ContextListener {

  /** Called when a sampled span became current on a thread. */
  void published(int tid, long traceIdHigh, long traceIdLow, long spanId);

  /** Called when no sampled span is current on a thread any more. */
  void cleared(int tid);
}
