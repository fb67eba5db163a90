package io.inferspan.kvcache.index.redis;

import io.inferspan.kvcache.index.redis.link.RedisIndexCounters;

/**
 * What an index in Redis has done so far, and what went wrong.
 *
 * @param lookups lookups that were asked for
 * @param lookupTimeouts of these, those that had no answer in time
 * @param lookupFailures of these, those that failed otherwise, at once where Redis is gone
 * @param writes writes that were asked for
 * @param writeFailures of these, those that were not made, or not known to be made, in time
 * @param refused of the failed ones, those for which too many others waited
 * @param connects connections that were made
 * @param failedConnects attempts that made none
 * @param lostConnections connections that were lost, or given up because nothing came back
 * @param unreadableFields fields of others that stand for no holder, each time one was met
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
