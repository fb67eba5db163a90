/** KV-cache index and its spans. */
module io.inferspan.kvcache {
  exports io.inferspan.kvcache.index;

  requires transitive io.inferspan;
  requires static com.github.benmanes.caffeine;
  requires static io.vertx.core;
  requires static io.vertx.redis.client;
  requires static micrometer.core;
  requires static msgpack.core;
  requires static org.jspecify;
  requires static org.zeromq.jeromq;
}
