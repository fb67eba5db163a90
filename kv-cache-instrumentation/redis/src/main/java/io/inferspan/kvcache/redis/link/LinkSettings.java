package io.inferspan.kvcache.redis.link;

import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Addresses, login, certificates and limits of the connections to Redis.
 *
 * @param topology single server, cluster or Sentinel
 * @param addresses at least one; all agree in everything but host and port
 * @param master the master's name at the Sentinels; null for other topologies
 * @param login user and password
 * @param trust trusted certificates; null for those the JVM trusts
 * @param identity the client certificate; null for none
 * @param connectTimeout the timeout for connecting and logging in
 * @param maxPendingCommands the number of commands that may wait on a connection
 */
public record LinkSettings(
    Topology topology,
    List<RedisAddress> addresses,
    @Nullable String master,
    Login login,
    @Nullable TrustOptions trust,
    @Nullable KeyCertOptions identity,
    Duration connectTimeout,
    int maxPendingCommands) {

  /** The server topology. */
  public enum Topology {
    SINGLE,
    CLUSTER,
    SENTINEL
  }

  /** A user, or null for Redis's default one, and a password, or null if none is required. */
  public record Login(@Nullable String user, @Nullable String password) {

    /** Never contains the user or the password. */
    @Override
    public String toString() {
      return password == null ? "no login" : "a login";
    }
  }

  /** Returns the same settings with another login. */
  public LinkSettings with(Login other) {
    return new LinkSettings(
        topology, addresses, master, other, trust, identity, connectTimeout, maxPendingCommands);
  }

  boolean encrypted() {
    return addresses.get(0).encrypted();
  }

  /** Returns the addresses, without secrets. */
  @Override
  public String toString() {
    return addresses.get(0).toString();
  }
}
