package io.inferspan.gateway.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.gateway.GatewayContract;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.Wire;
import io.inferspan.testing.engine.EngineScript;
import io.vertx.httpproxy.HttpProxy;
import io.vertx.httpproxy.OriginRequestProvider;
import java.time.Duration;
import org.junit.jupiter.api.Test;

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

  @Test
  void connectTimeOfAnUntimedOrigin_countsAsWaitForTheFirstToken() throws Exception {
    engine.script(EngineScript.builder().slowHeaders(Duration.ofMillis(100)).build());
    ProxyTracing traced = new ProxyTracing(new VertxGateway(tracing().build()));
    try (GatewayRig rig =
            new VertxRig(
                client ->
                    HttpProxy.reverseProxy(client)
                        .origin(OriginRequestProvider.fixedAddress(engine.port(), "127.0.0.1"))
                        .addInterceptor(traced));
        Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat(STREAM));
      assertThat(wire.read().status()).isEqualTo(200);
    }
    assertThat(millis(gatewaySpan(), "inferspan.gateway.upstream_connect_ms")).isZero();
    assertThat(millis(gatewaySpan(), "inferspan.gateway.upstream_first_token_ms"))
        .isGreaterThanOrEqualTo(100);
  }
}
