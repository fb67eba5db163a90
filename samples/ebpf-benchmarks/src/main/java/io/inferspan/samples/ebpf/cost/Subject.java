package io.inferspan.samples.ebpf.cost;

/** An observer, attached during its turn. */
@FunctionalInterface
interface Subject {

  /** Starts to observe until the result is closed. */
  Watching attach();

  /** An observation that lasts until it is closed. */
  interface Watching extends AutoCloseable {

    @Override
    void close();
  }
}
