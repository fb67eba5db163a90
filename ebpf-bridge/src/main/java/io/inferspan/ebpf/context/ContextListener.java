package io.inferspan.ebpf.context;

/**
 * Observes which span each thread serves, and is called on that thread. It updates maps of other
 * programs. The listener is optional because each update costs a system call.
 */
public interface ContextListener {

  /** Called when a sampled span became current on a thread. */
  void published(int tid, long traceIdHigh, long traceIdLow, long spanId);

  /** Called when no sampled span is current on a thread any more, or when the thread has ended. */
  void cleared(int tid);
}
