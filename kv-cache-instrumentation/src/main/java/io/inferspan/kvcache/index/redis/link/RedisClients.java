package io.inferspan.kvcache.index.redis.link;

import io.inferspan.kvcache.index.redis.link.LinkSettings.Topology;
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
public final class RedisClients {

  // A cluster's client asks for the slots on a connection beside the one it works on.
  private static final int POOLED = 4;

  private final Vertx vertx;
  private final LinkSettings settings;
  private final RedisClientType type;
  private final List<String> addresses;

  /** Makes clients on the event loops of {@code vertx}. */
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

  /** Makes clients of one node of a cluster. */
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
            .setMaxWaitingHandlers(settings.maxPendingCommands())
            // A lookup has a span of its own, and Vert.x's would be one for each connection more.
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
