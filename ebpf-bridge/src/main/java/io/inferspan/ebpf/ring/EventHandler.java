package io.inferspan.ebpf.ring;

import io.inferspan.ebpf.wire.EventView;

/** Handles events on the ring's thread. */
public interface EventHandler {

  /** Handles the event that {@code view} shows. The view is reused when this returns. */
  void event(EventView view);

  /** Returns whether nothing is scheduled, so that it need not be called. */
  default boolean isAtRest() {
    return false;
  }

  /** Called after every read of the ring, with or without events, for housekeeping. */
  default void drained() {}
}
