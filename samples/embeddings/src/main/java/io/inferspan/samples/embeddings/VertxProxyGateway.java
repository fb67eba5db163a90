package io.inferspan.samples.embeddings;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.vertx.ProxyTracing;
import io.inferspan.gateway.vertx.VertxGateway;
import io.vertx.core.Vertx;
import io.vertx.httpproxy.HttpProxy;
import io.vertx.httpproxy.OriginRequestProvider;
import java.net.URI;

/** A gateway on Vert.x's own proxy: {@code VertxProxyGateway engine:8000 8080}. */
public final class VertxProxyGateway {

  private VertxProxyGateway() {}

  /** Serves until it is stopped. */
  public static void main(String[] arguments) {
    URI engine = URI.create("http://" + arguments[0]);
    int port = Integer.parseInt(arguments[1]);
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder().serviceName("vertx-gateway").closeOnShutdown().build());
    VertxGateway gateway = new VertxGateway(GatewayTracing.of(telemetry));

    Vertx vertx = Vertx.vertx();
    HttpProxy proxy =
        HttpProxy.reverseProxy(vertx.createHttpClient())
            .origin(
                ProxyTracing.timed(
                    OriginRequestProvider.fixedAddress(engine.getPort(), engine.getHost())))
            .addInterceptor(new ProxyTracing(gateway));
    vertx
        .createHttpServer()
        .requestHandler(proxy)
        .listen(port)
        .onSuccess(server -> System.out.println("listening on " + server.actualPort()))
        .onFailure(Throwable::printStackTrace);
  }
}
