package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.LinkSettings;
import io.inferspan.kvcache.redis.link.LinkSettings.Login;
import io.inferspan.kvcache.redis.link.LinkSettings.Topology;
import io.inferspan.kvcache.redis.link.RedisAddress;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Addresses, credentials, timeouts and queue limits of a Redis or Valkey index. */
public final class RedisIndexOptions {

  /** The address that llm-d uses by default. */
  public static final String DEFAULT_ADDRESS = "redis://127.0.0.1:6379";

  final LinkSettings link;
  final Duration lookupTimeout;
  final Duration writeTimeout;
  final int lookupConnections;

  private RedisIndexOptions(Builder given) {
    this.link =
        checked(
            new LinkSettings(
                given.topology,
                given.urls.stream().map(RedisAddress::parse).toList(),
                given.master,
                new Login(given.user, given.password),
                given.trust,
                given.identity,
                given.connectTimeout,
                given.maxPendingCommands));
    this.lookupTimeout = given.lookupTimeout;
    this.writeTimeout = given.writeTimeout;
    this.lookupConnections = given.lookupConnections;
  }

  /** Connects to one server; the URL is {@code redis://}, {@code rediss://} or {@code unix://}. */
  public static Builder single(String url) {
    return new Builder(Topology.SINGLE, List.of(url));
  }

  /** Connects to a cluster that is discovered through any of these addresses. */
  public static Builder cluster(List<String> urls) {
    return new Builder(Topology.CLUSTER, urls);
  }

  /** Connects to the master of that name through the Sentinels at these addresses. */
  public static Builder sentinel(String master, List<String> urls) {
    Builder builder = new Builder(Topology.SENTINEL, urls);
    builder.master = Objects.requireNonNull(master, "master");
    return builder;
  }

  /**
   * Returns the settings with the login from the address or from the credentials.
   *
   * @throws IllegalArgumentException if options contradict each other
   */
  private static LinkSettings checked(LinkSettings given) {
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
              + ", but a cluster has only database 0");
    }
  }

  /** Builder for {@link RedisIndexOptions}. */
  public static final class Builder {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    private final Topology topology;
    private final List<String> urls;
    private @Nullable String master;
    private @Nullable String user;
    private @Nullable String password;
    private @Nullable TrustOptions trust;
    private @Nullable KeyCertOptions identity;
    private Duration lookupTimeout = Duration.ofMillis(50);
    private Duration writeTimeout = Duration.ofSeconds(1);
    private Duration connectTimeout = Duration.ofSeconds(1);
    private int lookupConnections = 2;
    private int maxPendingCommands = 131_072;

    private Builder(Topology topology, List<String> urls) {
      this.topology = topology;
      this.urls = List.copyOf(urls);
    }

    /** Sets the login if the address has none. A null user is Redis's default user. */
    public Builder credentials(@Nullable String user, String password) {
      this.user = user;
      this.password = Objects.requireNonNull(password, "password");
      return this;
    }

    /** Sets the trusted certificates for {@code rediss://}; defaults to those the JVM trusts. */
    public Builder trust(TrustOptions trust) {
      this.trust = Objects.requireNonNull(trust, "trust");
      return this;
    }

    /** Sets the client certificate for {@code rediss://}; none by default. */
    public Builder identity(KeyCertOptions identity) {
      this.identity = Objects.requireNonNull(identity, "identity");
      return this;
    }

    /** Sets the time after which a lookup returns no hits; 50 ms by default. */
    public Builder lookupTimeout(Duration timeout) {
      this.lookupTimeout = checked("lookupTimeout", timeout);
      return this;
    }

    /**
     * Sets the time after which a write fails and a connection that does not answer is given up; 1
     * s by default.
     */
    public Builder writeTimeout(Duration timeout) {
      this.writeTimeout = checked("writeTimeout", timeout);
      return this;
    }

    /** Sets the timeout for connecting and logging in; 1 s by default. */
    public Builder connectTimeout(Duration timeout) {
      this.connectTimeout = checked("connectTimeout", timeout);
      return this;
    }

    /**
     * Sets the number of connections for lookups, in addition to the one for writes; 2 by default.
     */
    public Builder lookupConnections(int connections) {
      this.lookupConnections = checked("lookupConnections", connections, 1, 64);
      return this;
    }

    /**
     * Sets how many commands may wait on each connection; 131,072 by default. A block takes one or
     * two.
     */
    public Builder maxPendingCommands(int commands) {
      this.maxPendingCommands = checked("maxPendingCommands", commands, 1_024, 16_777_216);
      return this;
    }

    /** Returns the options. */
    public RedisIndexOptions build() {
      return new RedisIndexOptions(this);
    }

    private static Duration checked(String name, Duration timeout) {
      if (timeout.toMillis() < 1 || timeout.compareTo(LONGEST) > 0) {
        throw new IllegalArgumentException(
            name + " is " + timeout + ", but must be from 1 ms to " + LONGEST);
      }
      return timeout;
    }

    private static int checked(String name, int value, int least, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + " is " + value + ", but must be from " + least + " to " + most);
      }
      return value;
    }
  }
}
