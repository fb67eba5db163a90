package io.inferspan.kvcache.index.redis;

import java.util.concurrent.atomic.LongAdder;

/** The running counts of one index, from all its event loops. */
final class RedisIndexCounters {

  final LongAdder lookups = new LongAdder();
  final LongAdder lookupTimeouts = new LongAdder();
  final LongAdder lookupFailures = new LongAdder();
  final LongAdder writes = new LongAdder();
  final LongAdder writeFailures = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder connects = new LongAdder();
  final LongAdder failedConnects = new LongAdder();
  final LongAdder lostConnections = new LongAdder();
  final LongAdder unreadable = new LongAdder();

  RedisIndexCounts counts(long pendingCommands) {
    return new RedisIndexCounts(
        lookups.sum(),
        lookupTimeouts.sum(),
        lookupFailures.sum(),
        writes.sum(),
        writeFailures.sum(),
        refused.sum(),
        connects.sum(),
        failedConnects.sum(),
        lostConnections.sum(),
        unreadable.sum(),
        pendingCommands);
  }
}
