/** Kernel and CUDA events under the request's traceparent. */
module io.inferspan.ebpf {
  requires transitive io.inferspan;
  requires static org.jspecify;
}
