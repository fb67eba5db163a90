package io.inferspan.pd.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.export.SpanCounts;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.inferspan.testing.otlp.TestCertificate;
import io.opentelemetry.context.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the export of spans to a real receiver, with the sidecar's exporters. */
final class SpanExportIT {

  private static final String GRPC = "grpc";
  private static final String HTTP = "http/protobuf";
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final long CLOSE_MILLIS = 300;
  private static final long SLACK_MILLIS = 1_000;

  @TempDir static Path folder;
  private static TestCertificate server;
  private static TestCertificate client;

  @BeforeAll
  static void makeCertificates() {
    server = TestCertificate.createIn(folder);
    client = TestCertificate.createIn(folder);
  }

  private static TelemetryOptions.Builder to(String endpoint, String protocol) {
    return TelemetryOptions.builder()
        .serviceName("test-sidecar")
        .closeTimeout(Duration.ofMillis(CLOSE_MILLIS))
        .setting("otel.traces.sampler", "always_on")
        .setting("otel.bsp.schedule.delay", "10")
        .setting("otel.exporter.otlp.protocol", protocol)
        .setting("otel.exporter.otlp.endpoint", endpoint);
  }

  private static TelemetryOptions.Builder to(OtlpReceiver receiver, String protocol) {
    return to(receiver.endpoint(), protocol);
  }

  private static SpanCounts trace(TelemetryOptions.Builder options, int spans) {
    Telemetry telemetry = Telemetry.initTracing(options.build());
    end(telemetry, spans);
    telemetry.flush(SOON);
    telemetry.close();
    return telemetry.spanCounts();
  }

  private static void end(Telemetry telemetry, int spans) {
    for (int i = 0; i < spans; i++) {
      OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
      span.close();
    }
  }

  private static long millisToClose(Telemetry telemetry) {
    long start = System.nanoTime();
    telemetry.close();
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void spans_arrive(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      SpanCounts counts = trace(to(receiver, protocol), 1_000);

      assertThat(counts.exported()).isEqualTo(1_000);
      assertThat(receiver.spans()).hasSize(1_000);
      assertThat(receiver.protocols()).containsExactly(protocol.substring(0, 4));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void compressedSpans_arrive(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(to(receiver, protocol).setting("otel.exporter.otlp.compression", "gzip"), 100);

      assertThat(receiver.spans()).hasSize(100);
      String header = protocol.equals(GRPC) ? "grpc-encoding" : "content-encoding";
      assertThat(receiver.requestHeaders().getFirst()).containsEntry(header, "gzip");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void configuredHeaders_areSentWithThoseOfTheExporter(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(to(receiver, protocol).setting("otel.exporter.otlp.headers", "x-tenant=blue"), 1);

      assertThat(receiver.requestHeaders().getFirst())
          .containsEntry("x-tenant", "blue")
          .hasEntrySatisfying("user-agent", agent -> assertThat(agent).contains("OTLP"))
          .hasEntrySatisfying("content-type", type -> assertThat(type).startsWith("application/"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void tlsCollector_isReachedOnlyIfItIsTrusted(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start()) {
      assertThat(trace(to(receiver, protocol), 1).exported()).as("unknown").isZero();
      assertThat(receiver.requestCount()).isZero();

      assertThat(trace(trusting(to(receiver, protocol)), 1).exported()).isOne();
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void clientCertificate_isSent(String protocol) {
    try (OtlpReceiver receiver =
        OtlpReceiver.builder().tls(server).clientCa(client.certificatePem()).start()) {
      assertThat(trace(trusting(to(receiver, protocol)), 1).exported()).as("none").isZero();

      TelemetryOptions.Builder options =
          trusting(to(receiver, protocol))
              .setting("otel.exporter.otlp.client.key", client.privateKeyPem().toString())
              .setting("otel.exporter.otlp.client.certificate", client.certificatePem().toString());
      assertThat(trace(options, 1).exported()).isOne();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void certificateOfAnotherHost_isRejected(String protocol) throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      HttpServerOptions options =
          new HttpServerOptions()
              .setSsl(true)
              .setUseAlpn(true)
              .setKeyCertOptions(
                  new PemKeyCertOptions()
                      .addCertValue(Buffer.buffer(server.certificateBytes()))
                      .addKeyValue(Buffer.buffer(server.privateKeyBytes())));
      int port =
          vertx
              .createHttpServer(options)
              .requestHandler(call -> call.response().putHeader("grpc-status", "0").end())
              .listen(0, "0.0.0.0")
              .toCompletionStage()
              .toCompletableFuture()
              .get()
              .actualPort();

      // The certificate names 127.0.0.1, and the server listens on both.
      assertThat(trace(trusting(to("https://127.0.0.1:" + port, protocol)), 1).exported()).isOne();
      assertThat(trace(trusting(to("https://127.0.0.2:" + port, protocol)), 1).exported()).isZero();
    } finally {
      close(vertx);
    }
  }

  private static TelemetryOptions.Builder trusting(TelemetryOptions.Builder options) {
    return options.setting("otel.exporter.otlp.certificate", server.certificatePem().toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void missingCollector_costsCountedSpans_andCloseIsBounded(String protocol) throws IOException {
    Telemetry telemetry =
        Telemetry.initTracing(to("http://localhost:" + unusedPort(), protocol).build());
    end(telemetry, 50);

    assertThat(millisToClose(telemetry)).isLessThan(CLOSE_MILLIS + SLACK_MILLIS);
    assertThat(telemetry.spanCounts().exported()).isZero();
    assertThat(telemetry.spanCounts().dropped().total()).isEqualTo(50);
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void silentCollector_costsCountedSpans_andCloseIsBounded(String protocol) {
    try (OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start()) {
      Telemetry telemetry = Telemetry.initTracing(to(silent, protocol).build());
      end(telemetry, 50);
      silent.awaitRequests(1, SOON);

      assertThat(millisToClose(telemetry)).isLessThan(CLOSE_MILLIS + SLACK_MILLIS);
      assertThat(telemetry.spanCounts().exported()).isZero();
      assertThat(telemetry.spanCounts().dropped().total()).isEqualTo(50);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void silentCollector_timesOut(String protocol) {
    try (OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start()) {
      TelemetryOptions.Builder options =
          to(silent, protocol).setting("otel.exporter.otlp.timeout", "200");
      Telemetry telemetry = Telemetry.initTracing(options.build());
      end(telemetry, 1);

      long start = System.nanoTime();
      telemetry.flush(SOON);
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      SpanCounts before = telemetry.spanCounts();
      telemetry.close();
      assertThat(before.dropped().exportFailed()).isOne();
      assertThat(millis).isBetween(100L, 1_500L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void rejectedSpans_areSentAgain(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().behaviour(Behaviour.REJECT).start()) {
      Telemetry telemetry = Telemetry.initTracing(to(receiver, protocol).build());
      end(telemetry, 1);
      receiver.awaitRequests(1, SOON);
      receiver.behave(Behaviour.ACCEPT);

      receiver.awaitSpans(1, SOON);
      telemetry.flush(SOON);
      telemetry.close();
      assertThat(receiver.requestCount()).isEqualTo(2);
      assertThat(telemetry.spanCounts().exported()).isOne();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void refusedSpans_areNotSentAgain(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().behaviour(Behaviour.REFUSE).start()) {
      SpanCounts counts = trace(to(receiver, protocol), 1);

      assertThat(counts.dropped().exportFailed()).isOne();
      assertThat(receiver.requestCount()).isOne();
    }
  }

  private static void close(Vertx vertx) throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private static int unusedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
