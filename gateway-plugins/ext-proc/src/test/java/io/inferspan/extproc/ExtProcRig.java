package io.inferspan.extproc;

import io.inferspan.Telemetry;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.gateway.GatewayRig;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.Wire;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The service, and the stand-in for Envoy before it. */
final class ExtProcRig implements GatewayRig {

  private static final int WARM_UP_REQUESTS = 500;

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final ExtProcService service;
  private final EnvoyStandIn envoy;

  ExtProcRig(ExtProcService service, EnvoyStandIn.Setup setup) throws Exception {
    this.service = service;
    HttpServer server =
        vertx
            .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(true))
            .requestHandler(service)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS);
    this.envoy = new EnvoyStandIn(server.actualPort(), setup);
  }

  static ExtProcService.Builder service(GatewayTracing tracing, int enginePort) {
    List<Endpoint> endpoints = List.of(Endpoint.of("ns", "engine", "127.0.0.1", enginePort));
    return ExtProcService.builder(tracing, scheduler(), () -> endpoints);
  }

  static Scheduler scheduler() {
    return Scheduler.builder(new SingleProfileHandler())
        .profile(SchedulerProfile.named("default").picker(new MaxScorePicker()))
        .build();
  }

  /** Has the code compiled before anything is timed. */
  static void warmUp(EnvoyStandIn.Setup setup) throws Exception {
    GatewayTracing tracing = GatewayTracing.create(Telemetry.using(OpenTelemetry.noop()));
    try (FakeEngine engine = FakeEngine.start();
        ExtProcRig rig = new ExtProcRig(service(tracing, engine.port()).build(), setup);
        Wire wire = new Wire(rig.port())) {
      for (int i = 0; i < WARM_UP_REQUESTS; i++) {
        wire.send(Wire.chat("{\"model\":\"tiny\",\"prompt\":\"one\",\"stream\":true}"));
        if (wire.read().status() != 200) {
          throw new IllegalStateException("the rig does not work");
        }
      }
    }
  }

  ExtProcService service() {
    return service;
  }

  EnvoyStandIn envoy() {
    return envoy;
  }

  @Override
  public int port() {
    return envoy.port();
  }

  @Override
  public void close() {
    envoy.close();
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }
}
