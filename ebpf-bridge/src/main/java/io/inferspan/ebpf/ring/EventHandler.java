package io.inferspan.ebpf.ring;

import io.inferspan.ebpf.wire.EventView;

/** Takes events, on the ring's thread. */
public interface EventHandler {

  /** Takes the event that {@code view} shows; the view moves on when this returns. */
  void event(EventView view);

  /** Whether it has nothing left that time alone would bring on, so that it need not be called. */
  default boolean isAtRest() {
    return false;
  }

  /** Follows every look at the ring, whether there was anything or not: time to tidy up. */
  default void drained() {}
}
