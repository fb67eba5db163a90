/** Kernel and CUDA events under the request's traceparent. */
module io.inferspan.ebpf {
  // API
  exports io.inferspan.ebpf;

  provides io.inferspan.TelemetryExtension with
      io.inferspan.ebpf.EbpfExtension;

  requires transitive io.inferspan;
  requires static com.fasterxml.jackson.core;
  requires static jdk.httpserver;
  requires static micrometer.core;
  requires static micrometer.registry.prometheus;
  requires static org.jspecify;
  requires static org.tukaani.xz;
}
