/** The eBPF bridge: records kernel and CUDA events as child spans of the request's span. */
module io.inferspan.ebpf {
  // API
  exports io.inferspan.ebpf;

  // Its options are annotated fields.
  opens io.inferspan.ebpf.cli to
      info.picocli;

  provides io.inferspan.TelemetryExtension with
      io.inferspan.ebpf.EbpfExtension;

  requires transitive io.inferspan;
  requires static com.fasterxml.jackson.core;
  requires static info.picocli;
  requires static jdk.httpserver;
  requires static micrometer.core;
  requires static micrometer.registry.prometheus;
  requires static org.jspecify;
  requires static org.tukaani.xz;
}
