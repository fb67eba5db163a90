/** Gateway and endpoint-picker tracing. */
module io.inferspan.gateway {
  requires transitive io.inferspan;
  requires static org.jspecify;
}
