package io.inferspan.pd.telemetry;

/** The order of prefill and decode. */
public enum Dispatch {
  /** Decode starts after prefill's response. */
  SERIAL,
  /** Both start concurrently, and decode does not need prefill's response. */
  DETACHED,
  /** Both start concurrently, and decode's response is held until prefill has answered. */
  PARALLEL
}
