package io.inferspan.kvcache.index.redis;

import io.inferspan.kvcache.index.redis.RedisIndexOptions.Topology;

/** What must fit together in options before anything is connected. */
final class OptionChecks {

  private OptionChecks() {}

  /** Fails with one sentence where something does not fit; else returns the first address. */
  static RedisAddress check(RedisIndexOptions options) {
    if (options.addresses.isEmpty()) {
      throw new IllegalArgumentException("The index in Redis has no address; give at least one");
    }
    RedisAddress first = options.addresses.get(0);
    for (RedisAddress address : options.addresses) {
      checkAlike(first, address);
    }
    if (options.topology != Topology.SINGLE) {
      checkSeveral(options.topology, first);
    }
    if (!first.encrypted() && (options.trust != null || options.identity != null)) {
      throw new IllegalArgumentException(
          "Certificates are given for " + first + ", but only rediss:// is encrypted");
    }
    return first;
  }

  private static void checkAlike(RedisAddress first, RedisAddress other) {
    if (!first.equals(
        new RedisAddress(
            other.scheme(), first.place(), other.database(), other.user(), other.password()))) {
      throw new IllegalArgumentException(
          "The addresses "
              + first
              + " and "
              + other
              + " differ in more than host and port; scheme, login and database must be the same");
    }
  }

  private static void checkSeveral(Topology topology, RedisAddress first) {
    if (first.local()) {
      throw new IllegalArgumentException(
          "A " + topology + " is at " + first + ", but must be at redis:// or rediss://");
    }
    if (topology == Topology.CLUSTER && first.database() != null && first.database() != 0) {
      throw new IllegalArgumentException(
          "The address "
              + first
              + " names database "
              + first.database()
              + ", but a cluster has none but 0");
    }
  }
}
