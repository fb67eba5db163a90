package io.inferspan.kvcache.events;

/**
 * Timeouts and retries of a replay.
 *
 * @param totalMillis the time limit of a replay
 * @param idleMillis the time to wait for the next reply of a connected publisher
 * @param attempts the number of attempts that may return nothing
 * @param backoffMillis the delay before the next attempt
 * @param cooldownMillis the time without replays for a publisher after one that failed
 * @param atOnce the number of concurrent replays
 */
record ReplayLimits(
    long totalMillis,
    long idleMillis,
    int attempts,
    long backoffMillis,
    long cooldownMillis,
    int atOnce) {

  /** llm-d's limits. */
  static final ReplayLimits DEFAULT = new ReplayLimits(120_000, 2_000, 3, 100, 30_000, 8);
}
