package io.inferspan.kvcache.redis.link;

import io.inferspan.kvcache.redis.link.LinkSettings.Topology;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisRole;
import java.util.List;

/**
 * Creates Vert.x Redis clients from the settings, one per connection, so that closing the client
 * closes everything.
 */
public final class RedisClients {

  // A cluster's client reads the slots on a connection separate from the one it works on.
  private static final int POOLED = 4;

  private final Vertx vertx;
  private final LinkSettings settings;
  private final RedisClientType type;
  private final List<String> addresses;

  /** Creates clients on the event loops of {@code vertx}. */
  public RedisClients(Vertx vertx, LinkSettings settings) {
    this(
        vertx,
        settings,
        switch (settings.topology()) {
          case SINGLE -> RedisClientType.STANDALONE;
          case CLUSTER -> RedisClientType.CLUSTER;
          case SENTINEL -> RedisClientType.SENTINEL;
        },
        settings.addresses().stream().map(RedisAddress::connectionString).toList());
  }

  private RedisClients(
      Vertx vertx, LinkSettings settings, RedisClientType type, List<String> addresses) {
    this.vertx = vertx;
    this.settings = settings;
    this.type = type;
    this.addresses = addresses;
  }

  /** Creates clients for one node of a cluster. */
  RedisClients node(String host, int port) {
    String bracketed = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    String scheme = settings.encrypted() ? "rediss://" : "redis://";
    String address = scheme + bracketed + ":" + port;
    return new RedisClients(vertx, settings, RedisClientType.STANDALONE, List.of(address));
  }

  int maxPendingCommands() {
    return settings.maxPendingCommands();
  }

  long connectTimeoutMillis() {
    return settings.connectTimeout().toMillis();
  }

  boolean clustered() {
    return type == RedisClientType.CLUSTER;
  }

  /** Creates a client that is not connected yet. */
  Redis create() {
    RedisOptions made =
        new RedisOptions()
            .setType(type)
            .setEndpoints(addresses)
            .setNetClientOptions(network())
            .setMaxPoolSize(POOLED)
            .setPoolCleanerInterval(-1)
            .setPoolRecycleTimeout(-1)
            .setMaxWaitingHandlers(settings.maxPendingCommands())
            // A lookup already has a span; Vert.x would add one per connection.
            .setTracingPolicy(TracingPolicy.IGNORE);
    LinkSettings.Login login = settings.login();
    if (login.password() != null) {
      made.setPassword(login.password()).setUser(login.user());
    }
    if (settings.topology() == Topology.SENTINEL) {
      made.setMasterName(settings.master()).setRole(RedisRole.MASTER);
    }
    return Redis.createClient(vertx, made);
  }

  private NetClientOptions network() {
    NetClientOptions network =
        new NetClientOptions()
            .setConnectTimeout((int) settings.connectTimeout().toMillis())
            .setTcpKeepAlive(true);
    if (settings.encrypted()) {
      network.setSsl(true).setHostnameVerificationAlgorithm("HTTPS");
      network.setTrustOptions(settings.trust()).setKeyCertOptions(settings.identity());
    }
    return network;
  }
}
