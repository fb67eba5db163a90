package io.inferspan.samples.ebpf.cost;

/** An observer, attached during its turn. */
@FunctionalInterface
interface Subject {

  /** Begins to watch; closing ends it. */
  Watching attach();

  /** Until closed. */
  interface Watching extends AutoCloseable {

    @Override
    void close();
  }
}
