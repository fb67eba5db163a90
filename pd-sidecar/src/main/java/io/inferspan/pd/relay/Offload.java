package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs work on large bodies outside of the event loop. */
public interface Offload {
  /**
   * Runs {@code task} on a worker thread, then passes its result to {@code next} on the event loop.
   * If {@code body} is small, both run at once on the calling thread. If the request ends while the
   * task runs, {@code next} is not called.
   */
  <T> void compute(HeldBody body, Supplier<T> task, Consumer<? super T> next);
}
