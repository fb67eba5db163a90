package io.inferspan.samples.ebpf.cost;

/** A way to observe a process. A benchmark compares several, and attaches one at a time. */
@FunctionalInterface
interface Subject {

  /** Starts observing; closing the result stops it. */
  Watching attach();

  /** An observation that lasts until it is closed. */
  interface Watching extends AutoCloseable {

    @Override
    void close();
  }
}
