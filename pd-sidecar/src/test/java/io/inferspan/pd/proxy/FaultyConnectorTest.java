package io.inferspan.pd.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.pd.allow.AllowList;
import io.inferspan.pd.config.ConfigException;
import io.inferspan.pd.config.Invocation;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.Gate;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.request.ProxyParts;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.Logged;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.server.HttpListener;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.upstream.Upstreams;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that an exception in a connector fails one request and leaves no client waiting. */
@ExtendWith(Cleanliness.class)
final class FaultyConnectorTest {
  private static final int HEADER_BYTES = 8192;
  private static final Duration SOON = Duration.ofSeconds(5);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final ScriptedEngine prefiller = ScriptedEngine.answering("{}");
  private final Loops loops = Loops.start("auto", 1);
  private final Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
  private final SidecarMetrics metrics = SidecarMetrics.create(telemetry);

  @AfterEach
  void stop() {
    metrics.close();
    loops.close();
    prefiller.close();
  }

  @Test
  void connectorThatThrowsAtOnce_is500() throws Exception {
    assertFaultIsAnswered(
        500,
        "InternalServerError",
        _ -> {
          throw new IllegalStateException("planted");
        });
  }

  @Test
  void connectorThatThrowsAfterPrefill_is500() throws Exception {
    assertFaultIsAnswered(
        500,
        "InternalServerError",
        request ->
            request.ask(
                PrefillLeg.before(request.body().original(), Map.of()),
                _ -> {
                  throw new IllegalStateException("planted");
                }));
  }

  @Test
  void gateThatThrows_is502() throws Exception {
    assertFaultIsAnswered(
        502,
        "BadGateway",
        request ->
            request.stream(
                DecodeLeg.of(request.body().original())
                    .on(request.prefiller())
                    .gated(new FaultyGate())));
  }

  private static final class FaultyGate implements Gate {
    @Override
    public Verdict look(
        io.netty.handler.codec.http.HttpResponse head, HeldBody body, Progress now) {
      throw new IllegalStateException("planted");
    }

    @Override
    public long maxHeldBytes(long limit) {
      return limit;
    }
  }

  private void assertFaultIsAnswered(int status, String type, Consumer<PdRequest> serving)
      throws Exception {
    try (Logged log = new Logged("io.inferspan.pd");
        HttpListener listener = listen(serving)) {
      HttpResponse<String> answer = post(listener.port());

      assertThat(answer.statusCode()).isEqualTo(status);
      assertThat(answer.body()).contains(type, "\"code\":" + status).doesNotContain("planted");
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .endsWith("trace_id=" + tracing.awaitSpans(1, SOON).getFirst().traceId());
    }
    assertThat(tracing.awaitSpans(1, SOON))
        .anySatisfy(
            span -> {
              assertThat(span.name()).isEqualTo("llm_d.pd_proxy.request");
              assertThat(span.attributes()).containsEntry("error.type", "internal_error");
            });
    assertThat(metrics.registry().get("inferspan_pd_requests_in_flight").gauge().value()).isZero();
  }

  private HttpListener listen(Consumer<PdRequest> serving) throws IOException, ConfigException {
    Connector connector =
        new Connector() {
          @Override
          public About about() {
            return new About("nixlv2", "none", "nothing");
          }

          @Override
          public void serve(PdRequest request) {
            serving.accept(request);
          }
        };
    PdProxy proxy = new PdProxy(parts(), connector);
    return HttpListener.listen(
        loops, 0, new HttpListener.Settings(proxy::handle, null, HEADER_BYTES, 0));
  }

  private ProxyParts parts() throws ConfigException {
    SidecarConfig config =
        switch (Invocation.parse(List.of(), Map.of())) {
          case Invocation.Run run -> run.config();
          case Invocation other -> throw new IllegalStateException("not a run: " + other);
        };
    Upstreams upstreams =
        new Upstreams(
            loops,
            new Upstreams.Settings(
                null, 1, Upstreams.IDLE_LIMIT, HEADER_BYTES, new ConnectionMeters()));
    return new ProxyParts(
        config,
        upstreams,
        upstreams,
        upstreams,
        upstreams,
        AllowList.everything(),
        new PdTracing(telemetry, "faulty", ""),
        metrics,
        new HeldBodies(config.get(Settings.HELD_BODIES_LIMIT)),
        loops.workers());
  }

  private HttpResponse<String> post(int port) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/v1/chat/completions"))
              .timeout(Duration.ofSeconds(5))
              .header("x-prefiller-host-port", prefiller.authority())
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
