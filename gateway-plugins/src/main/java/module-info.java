/** Gateway and endpoint-picker tracing. */
module io.inferspan.gateway {
  exports io.inferspan.epp;
  exports io.inferspan.epp.plugins.disagg;
  exports io.inferspan.epp.plugins.filter;
  exports io.inferspan.epp.plugins.pick;
  exports io.inferspan.epp.plugins.score;
  exports io.inferspan.epp.scheduling;
  exports io.inferspan.epp.tracing;
  exports io.inferspan.gateway;
  exports io.inferspan.gateway.extproc;
  exports io.inferspan.gateway.metrics;
  exports io.inferspan.gateway.netty;
  exports io.inferspan.gateway.vertx;

  requires transitive io.inferspan;
  requires static io.netty.buffer;
  requires static io.netty.codec;
  requires static io.netty.codec.http;
  requires static io.netty.codec.http2;
  requires static io.netty.common;
  requires static io.netty.handler;
  requires static io.netty.transport;
  requires static io.prometheus.metrics.tracer.common;
  requires static io.vertx.core;
  requires static io.vertx.httpproxy;
  requires static micrometer.core;
  requires static org.jspecify;
}
