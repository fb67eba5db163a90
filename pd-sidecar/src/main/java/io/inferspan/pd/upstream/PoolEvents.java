package io.inferspan.pd.upstream;

/** Hears how many connections there are. */
public interface PoolEvents {

  /** Hears nothing. */
  PoolEvents NONE = new PoolEvents() {};

  /** A connection was made. */
  default void opened() {}

  /** A connection is gone. */
  default void closed() {}

  /** A connection waits for its next request, or no longer does. */
  default void idle(int change) {}
}
