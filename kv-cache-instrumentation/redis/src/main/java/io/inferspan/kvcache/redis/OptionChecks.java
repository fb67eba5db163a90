package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.LinkSettings;
import io.inferspan.kvcache.redis.link.LinkSettings.Login;
import io.inferspan.kvcache.redis.link.LinkSettings.Topology;
import io.inferspan.kvcache.redis.link.RedisAddress;

/** Checks that options fit together before anything connects. */
final class OptionChecks {

  private OptionChecks() {}

  /**
   * Returns the settings with the login from the address or from the credentials.
   *
   * @throws IllegalArgumentException if options contradict each other
   */
  static LinkSettings checked(LinkSettings given) {
    if (given.addresses().isEmpty()) {
      throw new IllegalArgumentException("The index in Redis has no address; give at least one");
    }
    RedisAddress first = given.addresses().get(0);
    for (RedisAddress address : given.addresses()) {
      checkAlike(first, address);
    }
    if (given.topology() != Topology.SINGLE) {
      checkSeveral(given.topology(), first);
    }
    if (!first.encrypted() && (given.trust() != null || given.identity() != null)) {
      throw new IllegalArgumentException(
          "Certificates are given for " + first + ", but only rediss:// is encrypted");
    }
    return given.with(login(given.login(), first));
  }

  private static Login login(Login given, RedisAddress address) {
    if (given.password() == null) {
      return new Login(address.user(), address.password());
    }
    if (address.password() != null) {
      throw new IllegalArgumentException(
          "The password for Redis is in its address and in credentials(); give one of them");
    }
    return given;
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
