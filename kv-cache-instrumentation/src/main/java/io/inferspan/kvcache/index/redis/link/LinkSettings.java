package io.inferspan.kvcache.index.redis.link;

import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where servers are, as whom to come, and how much may wait for them.
 *
 * @param topology how the servers belong together
 * @param addresses at least one, alike in all but host and port
 * @param master the name by which Sentinels know it; null for other topologies
 * @param login as whom to come
 * @param trust whose certificates are trusted; null for those the JVM trusts
 * @param identity the certificate to show; null for none
 * @param connectTimeout how long it may take to connect and log in
 * @param maxPendingCommands how many commands may wait on a connection
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

  /** How servers belong together. */
  public enum Topology {
    SINGLE,
    CLUSTER,
    SENTINEL
  }

  /** A user, null for Redis's default one, and a password, null where none is asked for. */
  public record Login(@Nullable String user, @Nullable String password) {

    /** That somebody comes, not who. */
    @Override
    public String toString() {
      return password == null ? "nobody" : "somebody";
    }
  }

  /** The same for somebody else. */
  public LinkSettings with(Login other) {
    return new LinkSettings(
        topology, addresses, master, other, trust, identity, connectTimeout, maxPendingCommands);
  }

  boolean encrypted() {
    return addresses.get(0).encrypted();
  }

  /** Where they are, without a secret. */
  @Override
  public String toString() {
    return addresses.get(0).toString();
  }
}
