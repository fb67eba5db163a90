package io.inferspan.kvcache.events;

/**
 * How long and how often a replay is tried.
 *
 * @param totalMillis how long one may take
 * @param idleMillis how long to wait for the next reply
 * @param attempts how many attempts may bring nothing
 * @param backoffMillis the pause before the next attempt
 * @param cooldownMillis how long none is tried for a publisher after one that failed
 * @param atOnce how many may run at once
 */
record ReplayLimits(
    long totalMillis,
    long idleMillis,
    int attempts,
    long backoffMillis,
    long cooldownMillis,
    int atOnce) {

  /** llm-d's. */
  static final ReplayLimits DEFAULT = new ReplayLimits(120_000, 2_000, 3, 100, 30_000, 8);
}
