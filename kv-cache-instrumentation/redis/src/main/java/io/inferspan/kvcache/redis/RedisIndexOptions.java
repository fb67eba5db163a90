package io.inferspan.kvcache.redis;

import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.TrustOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Addresses, credentials, timeouts and queue limits of a Redis or Valkey index. */
public final class RedisIndexOptions {

  /** The address that llm-d uses by default. */
  public static final String DEFAULT_ADDRESS = "redis://127.0.0.1:6379";

  // A cluster's client reads the slots over a connection of its own.
  private static final int POOLED = 4;

  final RedisClientType topology;
  final RedisAddress address;
  final Duration lookupTimeout;
  final Duration writeTimeout;
  final Duration connectTimeout;
  final int lookupConnections;
  final int maxPendingCommands;
  private final RedisOptions client;

  private RedisIndexOptions(Builder given) {
    this.topology = given.topology;
    List<RedisAddress> addresses = given.urls.stream().map(RedisAddress::parse).toList();
    check(given, addresses);
    this.address = addresses.get(0);
    this.lookupTimeout = given.lookupTimeout;
    this.writeTimeout = given.writeTimeout;
    this.connectTimeout = given.connectTimeout;
    this.lookupConnections = given.lookupConnections;
    this.maxPendingCommands = given.maxPendingCommands;
    this.client =
        new RedisOptions()
            .setType(topology)
            .setEndpoints(addresses.stream().map(RedisAddress::connectionString).toList())
            .setNetClientOptions(network(given))
            .setMaxPoolSize(POOLED)
            .setPoolCleanerInterval(-1)
            .setPoolRecycleTimeout(-1)
            .setMaxWaitingHandlers(maxPendingCommands)
            // A lookup already has a span; Vert.x would add one per connection.
            .setTracingPolicy(TracingPolicy.IGNORE);
    if (given.password != null) {
      client.setUser(given.user).setPassword(given.password);
    } else if (address.password() != null) {
      client.setUser(address.user()).setPassword(address.password());
    }
    if (topology == RedisClientType.SENTINEL) {
      client.setMasterName(given.master).setRole(RedisRole.MASTER);
    }
  }

  private NetClientOptions network(Builder given) {
    NetClientOptions network =
        new NetClientOptions()
            .setConnectTimeout((int) connectTimeout.toMillis())
            .setTcpKeepAlive(true);
    if (address.encrypted()) {
      network.setSsl(true).setHostnameVerificationAlgorithm("HTTPS");
      network.setTrustOptions(given.trust).setKeyCertOptions(given.identity);
    }
    return network;
  }

  /** Returns a copy of the options of Vert.x's client. */
  RedisOptions client() {
    return new RedisOptions(client);
  }

  /** Returns the options of a client for one node of the cluster. */
  RedisOptions client(RedisCommands.Node node) {
    String host = node.host().indexOf(':') >= 0 ? "[" + node.host() + "]" : node.host();
    return client()
        .setType(RedisClientType.STANDALONE)
        .setEndpoints(List.of(address.scheme() + "://" + host + ":" + node.port()));
  }

  /** Connects to one server; the URL is {@code redis://}, {@code rediss://} or {@code unix://}. */
  public static Builder single(String url) {
    return new Builder(RedisClientType.STANDALONE, List.of(url));
  }

  /** Connects to a cluster that is discovered through any of these addresses. */
  public static Builder cluster(List<String> urls) {
    return new Builder(RedisClientType.CLUSTER, urls);
  }

  /** Connects to the master named {@code master} through the Sentinels at these addresses. */
  public static Builder sentinel(String master, List<String> urls) {
    Builder builder = new Builder(RedisClientType.SENTINEL, urls);
    builder.master = Objects.requireNonNull(master, "master");
    return builder;
  }

  /** Rejects options that contradict each other. */
  private static void check(Builder given, List<RedisAddress> addresses) {
    if (addresses.isEmpty()) {
      throw new IllegalArgumentException("The index in Redis has no address; give at least one");
    }
    RedisAddress first = addresses.get(0);
    addresses.forEach(address -> checkAlike(first, address));
    if (given.topology != RedisClientType.STANDALONE) {
      checkSeveral(given.topology, first);
    }
    if (!first.encrypted() && (given.trust != null || given.identity != null)) {
      throw new IllegalArgumentException(
          "Certificates are given for "
              + first
              + ", but only rediss:// is encrypted; use rediss://, or give no certificates");
    }
    if (given.password != null && first.password() != null) {
      throw new IllegalArgumentException(
          "The password for Redis is in its address and in credentials(); give one of them");
    }
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

  private static void checkSeveral(RedisClientType topology, RedisAddress first) {
    if (first.local()) {
      throw new IllegalArgumentException(
          "A " + topology + " is at " + first + ", but must be at redis:// or rediss://");
    }
    if (topology == RedisClientType.CLUSTER && first.database() != null && first.database() != 0) {
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

    private final RedisClientType topology;
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

    private Builder(RedisClientType topology, List<String> urls) {
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
     * Sets the timeout of a write; 1 s by default. It is also the time after which a connection
     * that does not answer is closed; for lookup connections, the lookup timeout if that is longer.
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
     * Sets how many commands may wait on each connection; 131,072 by default. A lookup needs one
     * command per block, an addition up to two.
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
