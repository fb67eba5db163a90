package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.RedisIndexCounters;

/**
 * Operation and failure counts of a Redis index.
 *
 * @param lookups lookups requested
 * @param lookupTimeouts lookups that were not answered in time
 * @param lookupFailures lookups that failed otherwise, including at once while Redis is unreachable
 * @param writes writes requested
 * @param writeFailures writes that failed, or were not confirmed in time
 * @param refused operations refused because too many commands were pending
 * @param connects connections established
 * @param failedConnects connection attempts that failed
 * @param lostConnections connections that were lost, or closed because Redis did not answer
 * @param unreadableFields fields written by others that are no readable holder, once per read
 * @param pendingCommands commands that wait for Redis now
 */
public record RedisIndexCounts(
    long lookups,
    long lookupTimeouts,
    long lookupFailures,
    long writes,
    long writeFailures,
    long refused,
    long connects,
    long failedConnects,
    long lostConnections,
    long unreadableFields,
    long pendingCommands) {

  static RedisIndexCounts of(RedisIndexCounters counters, long pendingCommands) {
    return new RedisIndexCounts(
        counters.lookups.sum(),
        counters.lookupTimeouts.sum(),
        counters.lookupFailures.sum(),
        counters.writes.sum(),
        counters.writeFailures.sum(),
        counters.refused.sum(),
        counters.connects.sum(),
        counters.failedConnects.sum(),
        counters.lostConnections.sum(),
        counters.unreadable.sum(),
        pendingCommands);
  }
}
