package io.inferspan.ebpf.ring;

import io.inferspan.ebpf.wire.EventView;

/** Handles events on the ring's thread. */
public interface EventHandler {

  /** Handles an event. The view is reused after this method returns. */
  void event(EventView view);

  /**
   * Returns whether the handler has no pending work, so that the thread may sleep until the next
   * event.
   */
  default boolean isAtRest() {
    return false;
  }

  /** Called after each read of the ring, with or without events, for housekeeping. */
  default void drained() {}
}
