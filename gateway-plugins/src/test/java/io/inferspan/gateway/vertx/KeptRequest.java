package io.inferspan.gateway.vertx;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.Wire;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One request to a Vert.x server, which reports where it was stored. */
public final class KeptRequest implements Callable<String> {

  private final CompletableFuture<String> said = new CompletableFuture<>();

  /** For a test that has loaded this class with its own class loader. */
  public KeptRequest() {}

  @Override
  public String call() throws Exception {
    VertxGateway gateway =
        new VertxGateway(GatewayTracing.create(Telemetry.using(OpenTelemetry.noop())));
    try (VertxRig rig =
            new VertxRig(
                client ->
                    gateway.handler(
                        (request, live) -> {
                          said.complete(whereIs(gateway, request, live));
                          request.response().end();
                        }));
        Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat("{}"));
      return said.get(10, TimeUnit.SECONDS);
    }
  }

  private static String whereIs(
      VertxGateway gateway, HttpServerRequest request, GatewayRequest live) {
    boolean same = gateway.begin(request) == live && VertxGateway.current() == live;
    Map<Object, Object> shared = ContextInternal.current().getLocal(ContextInternal.LOCAL_MAP);
    boolean inMap = shared != null && shared.get(GatewayRequest.class) == live;
    return (same ? "the same" : "another") + (inMap ? ", in the shared map" : ", in its own place");
  }
}
