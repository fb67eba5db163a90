package io.inferspan.pd.tracing;

/** The order of decode and prefill, and which of them waits for the other. */
public enum Dispatch {
  /** Decode starts when prefill has answered. */
  SERIAL,
  /** Both start at once, and prefill's answer is not used. */
  DETACHED,
  /** Both start at once, and what decode answers is held until prefill has answered. */
  PARALLEL
}
