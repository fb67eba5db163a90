package io.inferspan.kvcache.index.redis;

import io.inferspan.kvcache.index.redis.link.LinkSettings;
import io.inferspan.kvcache.index.redis.link.LinkSettings.Login;
import io.inferspan.kvcache.index.redis.link.LinkSettings.Topology;
import io.inferspan.kvcache.index.redis.link.RedisAddress;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where the Redis or Valkey of an index is, and how long and how much may wait for it. */
public final class RedisIndexOptions {

  /** Where llm-d looks for Redis. */
  public static final String DEFAULT_ADDRESS = "redis://127.0.0.1:6379";

  final LinkSettings link;
  final Duration lookupTimeout;
  final Duration writeTimeout;
  final int lookupConnections;

  private RedisIndexOptions(Builder given) {
    this.link =
        OptionChecks.checked(
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

  /** One server at {@code url}; {@code redis://}, {@code rediss://} or {@code unix://}. */
  public static Builder single(String url) {
    return new Builder(Topology.SINGLE, List.of(url));
  }

  /** A cluster that is found at any of these addresses. */
  public static Builder cluster(List<String> urls) {
    return new Builder(Topology.CLUSTER, urls);
  }

  /** The master of that name, which the Sentinels at these addresses know. */
  public static Builder sentinel(String master, List<String> urls) {
    Builder builder = new Builder(Topology.SENTINEL, urls);
    builder.master = Objects.requireNonNull(master, "master");
    return builder;
  }

  /** Collects options. */
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

    /** Who comes, where the address does not say; a null user is Redis's default user. */
    public Builder credentials(@Nullable String user, String password) {
      this.user = user;
      this.password = Objects.requireNonNull(password, "password");
      return this;
    }

    /** Whose certificates are trusted, for {@code rediss://}; by default those the JVM trusts. */
    public Builder trust(TrustOptions trust) {
      this.trust = Objects.requireNonNull(trust, "trust");
      return this;
    }

    /** The certificate to show, for {@code rediss://}; by default none. */
    public Builder identity(KeyCertOptions identity) {
      this.identity = Objects.requireNonNull(identity, "identity");
      return this;
    }

    /** After this a lookup has found nothing; 50 ms by default. */
    public Builder lookupTimeout(Duration timeout) {
      this.lookupTimeout = checked("lookupTimeout", timeout);
      return this;
    }

    /**
     * After this a write has failed, and a connection on which nothing comes back is given up; 1 s
     * by default.
     */
    public Builder writeTimeout(Duration timeout) {
      this.writeTimeout = checked("writeTimeout", timeout);
      return this;
    }

    /** How long it may take to connect and log in; 1 s by default. */
    public Builder connectTimeout(Duration timeout) {
      this.connectTimeout = checked("connectTimeout", timeout);
      return this;
    }

    /** How many connections lookups share, beside the one for writes; 2 by default. */
    public Builder lookupConnections(int connections) {
      this.lookupConnections = checked("lookupConnections", connections, 1, 64);
      return this;
    }

    /**
     * How many commands may wait on each connection, a block being one or two; 131,072 by default.
     */
    public Builder maxPendingCommands(int commands) {
      this.maxPendingCommands = checked("maxPendingCommands", commands, 1_024, 16_777_216);
      return this;
    }

    /** These options. */
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
