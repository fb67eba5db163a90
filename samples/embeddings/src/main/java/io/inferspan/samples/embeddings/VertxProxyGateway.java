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

/** A gateway on Vert.x's HTTP proxy: {@code VertxProxyGateway engine:8000 8080}. */
public final class VertxProxyGateway {

  private VertxProxyGateway() {}

  /** Serves until it is stopped. */
  public static void main(String[] arguments) {
    URI engine = URI.create("http://" + arguments[0]);
    String host = engine.getHost();
    int port = engine.getPort();
    int ownPort = Integer.parseInt(arguments[1]);

    TelemetryOptions options =
        TelemetryOptions.builder().serviceName("my-gateway").closeOnShutdown().build();
    VertxGateway gateway = new VertxGateway(GatewayTracing.create(Telemetry.initTracing(options)));
    Vertx vertx = Vertx.vertx();
    HttpProxy proxy =
        HttpProxy.reverseProxy(vertx.createHttpClient())
            .origin(ProxyTracing.timed(OriginRequestProvider.fixedAddress(port, host)))
            .addInterceptor(new ProxyTracing(gateway));
    var server = vertx.createHttpServer().requestHandler(proxy).listen(ownPort);

    server
        .onSuccess(listening -> System.out.println("listening on " + listening.actualPort()))
        .onFailure(
            cause -> {
              System.err.println("cannot listen on port " + ownPort + ": " + cause.getMessage());
              System.exit(1);
            });
  }
}
