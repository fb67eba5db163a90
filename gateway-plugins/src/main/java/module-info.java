/** Traces the requests of LLM gateways, with adapters for Vert.x and Netty. */
module io.inferspan.gateway {
  exports io.inferspan.gateway;
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
