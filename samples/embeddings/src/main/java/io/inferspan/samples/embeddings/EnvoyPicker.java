package io.inferspan.samples.embeddings;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.ApproximatePrefixCacheScorer;
import io.inferspan.epp.plugins.score.NoHitLruScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.extproc.ExtProcService;
import io.inferspan.gateway.GatewayTracing;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import java.net.URI;
import java.util.List;
import java.util.stream.Stream;

/**
 * An endpoint picker for Envoy, over ext_proc: {@code EnvoyPicker 10.0.0.1:8000,10.0.0.2:8000
 * 9002}. Envoy's configuration is {@code envoy.yaml}.
 */
public final class EnvoyPicker {

  private EnvoyPicker() {}

  /** Serves until it is stopped. */
  public static void main(String[] arguments) {
    List<Endpoint> engines =
        Stream.of(arguments[0].split(",", -1)).map(EnvoyPicker::engine).toList();
    int port = Integer.parseInt(arguments[1]);
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder().serviceName("envoy-picker").closeOnShutdown().build());

    ApproximatePrefixCacheScorer prefixes = new ApproximatePrefixCacheScorer();
    // This scorer works without engine metrics, which this example does not collect.
    NoHitLruScorer turns = new NoHitLruScorer();
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(
                SchedulerProfile.named("default")
                    .scorer(prefixes, 3)
                    .scorer(turns, 2)
                    .picker(new MaxScorePicker()))
            .preRequest(prefixes)
            .preRequest(turns)
            .tracing(EppTracing.create(telemetry))
            .build();
    ExtProcService picker =
        ExtProcService.builder(GatewayTracing.create(telemetry), scheduler, () -> engines).build();
    Vertx.vertx()
        .createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(true))
        .requestHandler(picker)
        .listen(port)
        .onSuccess(server -> System.out.println("listening on " + server.actualPort()))
        .onFailure(
            e -> {
              System.err.println("cannot listen on port " + port + ": " + e.getMessage());
              System.exit(1);
            });
  }

  private static Endpoint engine(String authority) {
    URI engine = URI.create("http://" + authority);
    return Endpoint.of("default", authority, engine.getHost(), engine.getPort());
  }
}
