package io.inferspan.kvcache.redis;

/** The counters of a Redis index. */
public enum RedisIndexCount {
  /** Lookups. */
  LOOKUPS("lookups", "Lookups"),
  /** Lookups that were not answered in time. */
  LOOKUP_TIMEOUTS("lookup.timeouts", "Lookups that timed out"),
  /**
   * Lookups that failed for another reason, including those that fail at once while Redis is
   * unreachable.
   */
  LOOKUP_FAILURES("lookup.failures", "Lookups that failed otherwise"),
  /** Writes. */
  WRITES("writes", "Writes"),
  /** Writes that failed, or were not confirmed in time. */
  WRITE_FAILURES("write.failures", "Writes that failed or were not confirmed"),
  /** Operations refused because too many commands were pending. */
  REFUSED("refused", "Operations refused because too many commands were pending"),
  /** Connections established. */
  CONNECTS("connects", "Connections established"),
  /** Connection attempts that failed. */
  FAILED_CONNECTS("connect.failures", "Connection attempts that failed"),
  /** Connections that were lost, or closed because Redis did not answer. */
  LOST_CONNECTIONS("connections.lost", "Connections lost"),
  /** Unreadable entries, which other components wrote; counted each time that one is read. */
  UNREADABLE_FIELDS("unreadable.fields", "Unreadable holders");

  final String meter;
  final String description;

  RedisIndexCount(String meter, String description) {
    this.meter = meter;
    this.description = description;
  }
}
