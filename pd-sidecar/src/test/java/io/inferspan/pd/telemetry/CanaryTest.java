package io.inferspan.pd.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.Canary;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that no secrets of requests and responses appear in spans, metrics or logs. */
final class CanaryTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String CHAT = "/v1/chat/completions?api_key=";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String ENCODERS = "x-encoder-hosts-ports";

  private final Canary canary = Canary.random();
  private final String secret = canary.marker();
  private final EveryLog logs = EveryLog.capture();
  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final FakeEngine prefiller = FakeEngine.start();
  private final FakeEngine decoder = FakeEngine.start();
  private final FakeEngine encoder = FakeEngine.start();
  private final ScriptedEngine bootstrap =
      ScriptedEngine.answering("{\"0\":{\"engine_id\":%s}}".formatted(quoted(secret)));
  private BodyPath bodyPath = BodyPath.NIXL;
  private final int metricsPort = FreePort.next();
  private int requests;

  /** A configuration of connectors and stages, each of which handles bodies differently. */
  enum BodyPath {
    NIXL("--kv-connector=nixlv2"),
    WRITE("--moriio-write-mode", "--moriio-local-pod-ip=10.0.0.9"),
    PARALLEL("--moriio-write-mode", "--moriio-parallel-dispatch", "--moriio-local-pod-ip=10.0.0.9"),
    SHARED_STORAGE("--kv-connector=shared-storage"),
    SGLANG("--kv-connector=sglang"),
    MOONCAKE("--kv-connector=mooncake"),
    OFFLOADING("--kv-connector=offloading"),
    ENCODED("--ec-connector=ec-nixl"),
    CHUNKED("--decode-chunk-size=64");

    @SuppressWarnings("ImmutableEnumChecker") // it is one of those that cannot change
    private final List<String> flags;

    BodyPath(String... flags) {
      this.flags = List.of(flags);
    }
  }

  /** Combines every naming with one path, and every other path with one naming. */
  static Stream<Arguments> everyBodyPath() {
    return Stream.concat(
        Arrays.stream(SpanNaming.values()).map(naming -> arguments(naming, BodyPath.NIXL)),
        EnumSet.complementOf(EnumSet.of(BodyPath.NIXL)).stream()
            .map(other -> arguments(SpanNaming.PROPOSAL, other)));
  }

  @AfterEach
  void stop() {
    encoder.close();
    bootstrap.close();
    logs.close();
    receiver.close();
    prefiller.close();
    decoder.close();
  }

  private Telemetry telemetry(SpanNaming naming) {
    return Telemetry.initTracing(
        TelemetryOptions.builder()
            .serviceName("canary")
            .spanNaming(naming)
            .setting("otel.traces.sampler", "always_on")
            .setting("otel.bsp.schedule.delay", "20")
            .setting("otel.exporter.otlp.endpoint", receiver.endpoint())
            .build());
  }

  private SidecarRig sidecar(Telemetry telemetry) {
    return SidecarRig.before(decoder.port())
        .with("--enable-ssrf-protection=true", "--allow-target=127.0.0.1")
        .with("--metrics-port=" + metricsPort, "--mooncake-bootstrap-port=" + bootstrap.port())
        .with(bodyPath.flags.toArray(String[]::new))
        .tracedBy(telemetry)
        .start();
  }

  @ParameterizedTest
  @MethodSource("everyBodyPath")
  void secrets_areNotInAnyOutput(SpanNaming naming, BodyPath through) throws Exception {
    bodyPath = through;
    List<byte[]> places = new ArrayList<>();
    try (Telemetry telemetry = telemetry(naming)) {
      try (SidecarRig sidecar = sidecar(telemetry)) {
        canary.planted().forEach(planted -> well(sidecar, planted));
        badly(sidecar, canary.planted().getLast());
        leaving(sidecar);
        places.add(scrape(sidecar, "text/plain"));
        places.add(scrape(sidecar, "application/openmetrics-text;version=1.0.0"));
      }
      telemetry.flush(SOON);
    }
    String requestSpan = naming == SpanNaming.PROPOSAL ? "llm_d.pd_proxy.request" : "llm_d.pd";
    assertThat(receiver.spans())
        .filteredOn(span -> span.name().startsWith(requestSpan))
        .as("every request was seen")
        .hasSize(requests);
    places.addAll(receiver.rawBodies());
    places.add(logs.text().getBytes(UTF_8));

    canary.assertAbsentFrom(places);
    assertThat(receiver.spans())
        .allSatisfy(span -> assertThat(span.attributes().toString()).doesNotContain("api_key"));
  }

  @Test
  void search_findsMetadata() {
    try (Telemetry telemetry = telemetry(SpanNaming.PROPOSAL)) {
      try (SidecarRig sidecar = sidecar(telemetry)) {
        post(sidecar, "{}", PREFILLER, secret + ":8000");
      }
      telemetry.flush(SOON);
    }
    assertThatThrownBy(() -> canary.assertAbsentFrom(receiver.rawBodies()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("leaked");
    System.getLogger("io.inferspan.pd").log(System.Logger.Level.TRACE, secret);
    assertThatThrownBy(() -> canary.assertAbsentFrom(logs.text().getBytes(UTF_8)))
        .isInstanceOf(AssertionError.class);
  }

  private void well(SidecarRig sidecar, String planted) {
    decoder.script(EngineScript.builder().content(planted).build());
    prefiller.script(
        EngineScript.builder()
            .content(planted)
            .kvTransferParams("{\"remote_engine_id\":" + quoted(planted) + "}")
            .build());
    String target = prefiller.authority();
    for (boolean stream : new boolean[] {true, false}) {
      post(sidecar, body(planted, stream), PREFILLER, target);
      post(sidecar, body(planted, stream));
    }
    post(
        sidecar,
        "{\"model\":\"m\",\"tools\":["
            + quoted(planted)
            + "],\"usage\":"
            + quoted(planted)
            + ",\"prompt\":"
            + quoted(planted)
            + "}",
        PREFILLER,
        target);
    requests++;
    sidecar.get("/v1/models?api_key=" + secret, headers());
    requests++;
    sidecar.get("/v1/files/" + secret, headers());
    requests++;
    sidecar.get("/v1/responses/" + secret, headers());
    requests++;
    sidecar.send(
        sidecar
            .request("/v1/models", headers())
            .method(secret.toUpperCase(Locale.ROOT), HttpRequest.BodyPublishers.noBody()));
  }

  private void badly(SidecarRig sidecar, String planted) {
    String target = prefiller.authority();
    String body = body(planted, true);
    for (EngineScript fault : faults(planted)) {
      if (bodyPath == BodyPath.ENCODED) {
        encoder.enqueue(fault);
        tolerantly(sidecar, body, PREFILLER, target);
      }
      prefiller.script(fault);
      decoder.script(EngineScript.normal());
      tolerantly(sidecar, body, PREFILLER, target);
      prefiller.script(EngineScript.normal());
      decoder.script(fault);
      tolerantly(sidecar, body, PREFILLER, target);
      tolerantly(sidecar, body);
    }
    post(sidecar, planted, PREFILLER, target);
    post(sidecar, "{\"" + secret, PREFILLER, target);
    post(sidecar, body, PREFILLER, "127.0.0.1:" + FreePort.next());
    post(sidecar, body, PREFILLER, "10.0.0.1:8000");
    post(sidecar, body, PREFILLER, "user:" + secret + "@127.0.0.1:8000");
    post(sidecar, body, PREFILLER, "127.0.0.1:8000/" + secret);
    post(sidecar, body, PREFILLER, secret + "://10.0.0.1:8000");
    post(sidecar, body, "x-data-parallel-host-port", secret + ":8000");
    post(sidecar, body, "x-kv-cache-source-host-port", secret + ":8000");
    post(sidecar, body, ENCODERS, secret + ":8000");
  }

  private static List<EngineScript> faults(String planted) {
    String error = "{\"error\":{\"message\":" + quoted(planted) + "}}";
    return List.of(
        EngineScript.builder().failWith(500, planted).build(),
        EngineScript.builder().failWithBody(400, "application/json", error).build(),
        EngineScript.builder().failWithBody(503, "text/html", planted).build(),
        EngineScript.builder().failWithBody(200, "application/json", planted).build(),
        EngineScript.builder().content(planted).errorEventAfterTokens(1, planted).build(),
        EngineScript.builder().content(planted).garbageAfterTokens(1).build(),
        EngineScript.builder().content(planted).cutAfterTokens(1).build(),
        EngineScript.builder().cutBeforeHeaders().build());
  }

  private void leaving(SidecarRig sidecar) {
    requests++;
    decoder.script(
        EngineScript.builder()
            .content((secret + ' ').repeat(10_000))
            .betweenTokens(Duration.ofMillis(1))
            .build());
    try (LeavingClient client =
        LeavingClient.post(
            sidecar.port(),
            CHAT + secret,
            body(secret, true),
            PREFILLER + ": " + prefiller.authority(),
            "authorization: " + secret)) {
      client.readUntil(secret);
    }
    decoder.awaitRequests(1, SOON).getLast().awaitEnd(SOON);
  }

  private void post(SidecarRig sidecar, String body, String... routing) {
    requests++;
    sidecar.post(CHAT + secret, body, headers(routing));
  }

  /** Sends a request; a truncated response throws an exception in the client. */
  private void tolerantly(SidecarRig sidecar, String body, String... routing) {
    requests++;
    List<String> lines = new ArrayList<>(List.of("connection: close"));
    for (int i = 0; i < routing.length; i += 2) {
      lines.add(routing[i] + ": " + routing[i + 1]);
    }
    if (bodyPath == BodyPath.ENCODED) {
      lines.add(ENCODERS + ": " + encoder.authority());
    }
    try (LeavingClient client =
        LeavingClient.post(sidecar.port(), CHAT + secret, body, lines.toArray(String[]::new))) {
      client.readUntil("the end of the connection");
    }
  }

  private String[] headers(String... routing) {
    List<String> all = new ArrayList<>(List.of(routing));
    for (String name :
        List.of("authorization", "cookie", "x-api-key", "x-request-id", "user-agent")) {
      all.add(name);
      all.add(secret);
    }
    Collections.addAll(all, "baggage", "user=" + secret);
    if (bodyPath == BodyPath.ENCODED && !all.contains(ENCODERS)) {
      Collections.addAll(all, ENCODERS, encoder.authority());
    }
    return all.toArray(String[]::new);
  }

  private String body(String planted, boolean stream) {
    String text = quoted(planted);
    String threshold = bodyPath == BodyPath.SHARED_STORAGE ? "\"cache_hit_threshold\":0.5," : "";
    return "{%s\"model\":\"m\",\"stream\":%s,\"user\":%s,".formatted(threshold, stream, text)
        + "\"messages\":[{\"role\":\"user\",\"content\":%s}],".formatted(content(text))
        + "\"tools\":[{\"function\":{\"arguments\":%s}}],\"usage\":{\"prompt_tokens\":%s}}"
            .formatted(text, text);
  }

  /** Returns the content, which is an image for encoders, since they receive only images. */
  private String content(String text) {
    return bodyPath == BodyPath.ENCODED
        ? "[{\"type\":\"image_url\",\"image_url\":{\"url\":%s}}]".formatted(text)
        : text;
  }

  private static String quoted(String text) {
    return JsonNodeFactory.instance.textNode(text).toString();
  }

  private byte[] scrape(SidecarRig sidecar, String accept) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metricsPort + "/metrics"))
            .header("accept", accept)
            .build();
    byte[] text = sidecar.client().send(request, BodyHandlers.ofByteArray()).body();
    assertThat(new String(text, UTF_8)).contains("llm_d_disagg_sidecar_requests_total");
    return text;
  }
}
