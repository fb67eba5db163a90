/** An external processor for Envoy that picks endpoints. */
module io.inferspan.extproc {
  exports io.inferspan.extproc;

  opens io.inferspan.extproc.proto to
      com.google.protobuf;

  requires transitive io.inferspan.epp;
  requires transitive io.inferspan.gateway;
  requires transitive io.vertx.core;
  requires com.google.protobuf;
  requires io.netty.common;
  requires static org.jspecify;
}
