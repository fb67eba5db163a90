package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs work on large bodies outside of the event loop. */
public interface Offload {
  /**
   * Runs {@code task}, then {@code next} on the event loop; at once if {@code body} is small, and
   * without {@code next} if the request has ended meanwhile.
   */
  <T> void compute(HeldBody body, Supplier<T> task, Consumer<? super T> next);
}
