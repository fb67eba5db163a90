package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import io.vertx.httpproxy.HttpProxy;
import io.vertx.httpproxy.OriginRequestProvider;

/** The contract, kept by Vert.x's own proxy with our interceptor. */
final class ProxyTracingTest extends GatewayContract {

  @Override
  protected GatewayRig start(GatewayTracing gateway, int enginePort) {
    ProxyTracing traced = new ProxyTracing(new VertxGateway(gateway));
    return new VertxRig(
        client ->
            HttpProxy.reverseProxy(client)
                .origin(
                    ProxyTracing.timed(OriginRequestProvider.fixedAddress(enginePort, "127.0.0.1")))
                .addInterceptor(traced));
  }
}
