/** An index of the pods that hold KV-cache blocks, and its spans. */
module io.inferspan.kvcache {
  exports io.inferspan.kvcache;
  exports io.inferspan.kvcache.block;
  exports io.inferspan.kvcache.index;
  exports io.inferspan.kvcache.metrics;
  exports io.inferspan.kvcache.score;

  requires transitive io.inferspan;
  requires static com.github.benmanes.caffeine;
  requires static micrometer.core;
  requires static org.jspecify;
}
