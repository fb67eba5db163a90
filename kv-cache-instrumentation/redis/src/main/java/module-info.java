/** A KV-cache index in Redis or Valkey. */
module io.inferspan.kvcache.redis {
  exports io.inferspan.kvcache.redis;

  requires transitive io.inferspan.kvcache;
  requires transitive io.vertx.core;
  requires io.vertx.redis.client;
  requires static micrometer.core;
  requires static org.jspecify;
}
