package io.inferspan.extproc;

import io.inferspan.Telemetry;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.extproc.EnvoyStandIn.Setup;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.Wire;
import io.inferspan.gateway.Wire.Message;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.FakeEngine;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine, and services that send requests to it. */
abstract class ExtProcFixture {

  static final Duration SOON = Duration.ofSeconds(10);
  static final String WHOLE =
      "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"one two\"}]}";
  static final String STREAM = "{\"model\":\"tiny\",\"prompt\":\"one two\",\"stream\":true}";
  static final Setup DUPLEX =
      Setup.of(BodyMode.FULL_DUPLEX_STREAMED, BodyMode.FULL_DUPLEX_STREAMED);
  static final Setup BUFFERED = Setup.of(BodyMode.BUFFERED, BodyMode.STREAMED);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  final FakeEngine engine = FakeEngine.start();

  @AfterEach
  void stopEngine() {
    engine.close();
  }

  GatewayTracing gateway() {
    return GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
  }

  Endpoint endpoint() {
    return Endpoint.of("ns", "engine", "127.0.0.1", engine.port());
  }

  ExtProcService.Builder service() {
    return ExtProcRig.service(gateway(), engine.port());
  }

  ExtProcService.Builder serviceOver(List<Endpoint> endpoints) {
    return ExtProcService.builder(gateway(), ExtProcRig.scheduler(), () -> endpoints);
  }

  ExtProcService serviceBy(Scheduler scheduler) {
    return ExtProcService.builder(gateway(), scheduler, () -> List.of(endpoint())).build();
  }

  static Message ask(ExtProcRig rig, String body, String... headers) throws Exception {
    try (Wire wire = new Wire(rig.port())) {
      wire.send(Wire.chat(body, headers));
      return wire.read();
    }
  }

  SpanRecord span() {
    return tracing.awaitSpans(1, SOON).get(0);
  }
}
