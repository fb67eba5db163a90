/** Prefill/decode proxy. */
module io.inferspan.pd {
  requires transitive io.inferspan;
  requires static org.jspecify;
}
