package io.inferspan.kvcache.redis.link;

import java.util.concurrent.atomic.LongAdder;

/** The running counts of one index across its event loops. */
public final class RedisIndexCounters {

  public final LongAdder lookups = new LongAdder();
  public final LongAdder lookupTimeouts = new LongAdder();
  public final LongAdder lookupFailures = new LongAdder();
  public final LongAdder writes = new LongAdder();
  public final LongAdder writeFailures = new LongAdder();
  public final LongAdder refused = new LongAdder();
  public final LongAdder connects = new LongAdder();
  public final LongAdder failedConnects = new LongAdder();
  public final LongAdder lostConnections = new LongAdder();
  public final LongAdder unreadable = new LongAdder();

  /** All at zero. */
  public RedisIndexCounters() {}
}
