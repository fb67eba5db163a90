package io.inferspan.kvcache.index.redis;

import io.inferspan.kvcache.index.redis.RedisIndexOptions.Topology;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import java.util.List;

/**
 * Makes Vert.x's clients as options say; one for each connection, so that closing it closes all.
 */
final class RedisClients {

  // A cluster's client asks for the slots on a connection beside the one it works on.
  private static final int POOLED = 4;

  private final Vertx vertx;
  private final RedisIndexOptions options;
  private final RedisClientType type;
  private final List<String> addresses;

  RedisClients(Vertx vertx, RedisIndexOptions options) {
    this(
        vertx,
        options,
        switch (options.topology) {
          case SINGLE -> RedisClientType.STANDALONE;
          case CLUSTER -> RedisClientType.CLUSTER;
          case SENTINEL -> RedisClientType.SENTINEL;
        },
        options.addresses.stream().map(RedisAddress::connectionString).toList());
  }

  private RedisClients(
      Vertx vertx, RedisIndexOptions options, RedisClientType type, List<String> addresses) {
    this.vertx = vertx;
    this.options = options;
    this.type = type;
    this.addresses = addresses;
  }

  /** Makes clients of one node of a cluster. */
  RedisClients node(String host, int port) {
    String bracketed = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    String scheme = options.encrypted() ? "rediss://" : "redis://";
    String address = scheme + bracketed + ":" + port;
    return new RedisClients(vertx, options, RedisClientType.STANDALONE, List.of(address));
  }

  boolean clustered() {
    return type == RedisClientType.CLUSTER;
  }

  /** A client without a connection yet. */
  Redis create() {
    RedisOptions made =
        new RedisOptions()
            .setType(type)
            .setEndpoints(addresses)
            .setNetClientOptions(network())
            .setMaxPoolSize(POOLED)
            .setPoolCleanerInterval(-1)
            .setPoolRecycleTimeout(-1)
            .setMaxWaitingHandlers(options.maxPendingCommands)
            // A lookup has a span of its own, and Vert.x's would be one for each connection more.
            .setTracingPolicy(TracingPolicy.IGNORE);
    if (options.password != null) {
      made.setPassword(options.password).setUser(options.user);
    }
    if (options.topology == Topology.SENTINEL) {
      made.setMasterName(options.master).setRole(RedisRole.MASTER);
    }
    return Redis.createClient(vertx, made);
  }

  private NetClientOptions network() {
    NetClientOptions network =
        new NetClientOptions()
            .setConnectTimeout((int) options.connectTimeout.toMillis())
            .setTcpKeepAlive(true);
    if (options.encrypted()) {
      network.setSsl(true).setHostnameVerificationAlgorithm("HTTPS");
      network.setTrustOptions(options.trust).setKeyCertOptions(options.identity);
    }
    return network;
  }
}
