/** KV-cache index and its spans. */
module io.inferspan.kvcache {
  requires transitive io.inferspan;
  requires static org.jspecify;
}
