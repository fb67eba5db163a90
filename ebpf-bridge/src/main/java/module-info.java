/** Kernel and CUDA events under the request's traceparent. */
module io.inferspan.ebpf {
  // API
  exports io.inferspan.ebpf;

  provides io.inferspan.TelemetryExtension with
      io.inferspan.ebpf.EbpfExtension;

  requires transitive io.inferspan;
  requires static micrometer.core;
  requires static org.jspecify;
}
