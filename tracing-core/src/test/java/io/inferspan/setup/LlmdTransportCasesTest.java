package io.inferspan.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.export.SpanCounts;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.inferspan.testing.otlp.TestCertificate;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** llm-d's tests of the connection to the collector: cases 5-9, over both protocols. */
class LlmdTransportCasesTest {

  private static final int TLS_HANDSHAKE = 0x16;
  private static final String GRPC = "grpc";
  private static final String HTTP = "http/protobuf";

  @TempDir static Path folder;
  private static TestCertificate server;
  private static TestCertificate client;

  @BeforeAll
  static void makeCertificates() {
    server = TestCertificate.createIn(folder);
    client = TestCertificate.createIn(folder);
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case05_httpsWithoutCertificate_attemptsTlsAndIsNeverDowngraded(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start()) {
      SpanCounts counts = trace(TestOptions.exportingTo(receiver, protocol));

      assertThat(counts.exported()).isZero();
      assertThat(counts.dropped().total()).isOne();
      assertThat(receiver.requestCount()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case05_httpsEndpoint_usesTls(String protocol) throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      CompletableFuture<Integer> firstByte = CompletableFuture.supplyAsync(() -> accept(socket));
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "https://localhost:" + socket.getLocalPort())
              .setting("otel.exporter.otlp.protocol", protocol));

      assertThat(firstByte.get(10, TimeUnit.SECONDS)).isEqualTo(TLS_HANDSHAKE);
    }
  }

  private static int accept(ServerSocket server) {
    try (Socket socket = server.accept()) {
      return socket.getInputStream().read();
    } catch (IOException e) {
      return -1;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case06_certificate_reachesTlsCollector(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start()) {
      SpanCounts counts =
          trace(
              TestOptions.exportingTo(receiver, protocol)
                  .setting("otel.exporter.otlp.certificate", server.certificatePem().toString()));

      assertThat(counts.exported()).isOne();
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case06_tracesCertificateAndEndpoint_winOverTheGeneralOnes() {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start();
        OtlpReceiver other = OtlpReceiver.start()) {
      trace(
          TestOptions.exportingTo(other)
              .setting("otel.exporter.otlp.certificate", client.certificatePem().toString())
              .setting("otel.exporter.otlp.traces.endpoint", receiver.endpoint())
              .setting(
                  "otel.exporter.otlp.traces.certificate", server.certificatePem().toString()));

      assertThat(receiver.spans()).hasSize(1);
      assertThat(other.requestCount()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case06_clientCertificate_isShownToACollectorThatDemandsOne(String protocol) {
    try (OtlpReceiver receiver =
        OtlpReceiver.builder().tls(server).clientCa(client.certificatePem()).start()) {
      TelemetryOptions.Builder options =
          TestOptions.exportingTo(receiver, protocol)
              .setting("otel.exporter.otlp.certificate", server.certificatePem().toString());

      assertThat(trace(options).exported()).describedAs("without a client key").isZero();
      SpanCounts counts =
          trace(
              options
                  .setting(
                      "otel.exporter.otlp.client.certificate", client.certificatePem().toString())
                  .setting("otel.exporter.otlp.client.key", client.privateKeyPem().toString()));
      assertThat(counts.exported()).isOne();
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case06_missingCertificateFile_isRejectedAtStart() {
    TelemetryOptions options =
        TestOptions.tracingAll()
            .setting("otel.exporter.otlp.endpoint", "https://localhost:1")
            .setting("otel.exporter.otlp.certificate", folder.resolve("none.pem").toString())
            .build();

    assertThatThrownBy(() -> Telemetry.initTracing(options)).hasMessageContaining("none.pem");
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case07_httpEndpoint_isPlaintext(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      assertThat(receiver.endpoint()).startsWith("http://");

      trace(TestOptions.exportingTo(receiver, protocol));

      assertThat(receiver.spans()).hasSize(1);
      assertThat(receiver.protocols()).containsExactly(protocol.equals(GRPC) ? "grpc" : "http");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case08_insecure_overridesHttps(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "https://localhost:" + receiver.port())
              .setting("otel.exporter.otlp.insecure", "true")
              .setting("otel.exporter.otlp.protocol", protocol));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case08_schemeInCapitals_isAccepted(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "HTTPS://localhost:" + receiver.port())
              .setting("otel.exporter.otlp.insecure", "true")
              .setting("otel.exporter.otlp.protocol", protocol));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case06_schemeInCapitals_usesTls(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "HTTPS://localhost:" + receiver.port())
              .setting("otel.exporter.otlp.certificate", server.certificatePem().toString())
              .setting("otel.exporter.otlp.protocol", protocol));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case08_tracesInsecure_overridesHttpsOfTheTracesEndpoint() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.traces.endpoint", "https://localhost:" + receiver.port())
              .setting("otel.exporter.otlp.traces.insecure", "true"));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case08_tracesInsecure_alsoAppliesToTheGeneralEndpoint() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "https://localhost:" + receiver.port())
              .setting("otel.exporter.otlp.traces.insecure", "true"));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case08_insecureFalse_doesNotTurnHttpIntoTls() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(TestOptions.exportingTo(receiver).setting("otel.exporter.otlp.insecure", "false"));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @Test
  void case08_endpointWithoutScheme_isPlaintextIfInsecureIsTrue() {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.tracingAll()
              .setting("otel.exporter.otlp.endpoint", "localhost:" + receiver.port())
              .setting("otel.exporter.otlp.insecure", "true"));

      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void case09_headers_reachTheCollector(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.exportingTo(receiver, protocol)
              .setting(
                  "otel.exporter.otlp.headers",
                  "authorization=Basic YQ+/Yg==,x-scope-orgid=tenant%201"));

      Map<String, String> headers = receiver.requestHeaders().get(0);
      assertThat(headers)
          .containsEntry("authorization", "Basic YQ+/Yg==")
          .containsEntry("x-scope-orgid", "tenant 1");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void compression_isGzipOnRequest(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      trace(
          TestOptions.exportingTo(receiver, protocol)
              .setting("otel.exporter.otlp.compression", "gzip"));

      String encoding = protocol.equals(GRPC) ? "grpc-encoding" : "content-encoding";
      assertThat(receiver.requestHeaders().get(0)).containsEntry(encoding, "gzip");
      assertThat(receiver.spans()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {GRPC, HTTP})
  void timeout_endsACallThatIsNeverAnswered(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start()) {
      SpanCounts counts =
          trace(
              TestOptions.exportingTo(receiver, protocol)
                  .setting("otel.exporter.otlp.timeout", "300"));

      assertThat(receiver.requestCount()).isPositive();
      assertThat(counts.dropped().exportFailed()).isOne();
    }
  }

  @Test
  void unknownProtocol_isRejectedAtStart() {
    TelemetryOptions options =
        TestOptions.tracingAll().setting("otel.exporter.otlp.protocol", "carrier-pigeon").build();

    assertThatThrownBy(() -> Telemetry.initTracing(options)).hasMessageContaining("carrier-pigeon");
  }

  @Test
  void malformedEndpoint_isRejectedAtStart() {
    TelemetryOptions options =
        TestOptions.tracingAll().setting("otel.exporter.otlp.endpoint", "ftp://host:1").build();

    assertThatThrownBy(() -> Telemetry.initTracing(options)).hasMessageContaining("ftp");
  }

  /** Starts one span, waits until it is exported or dropped, and closes. */
  private static SpanCounts trace(TelemetryOptions.Builder options) {
    Telemetry telemetry = Telemetry.initTracing(options.build());
    try (telemetry) {
      telemetry.span(GatewaySpans.REQUEST, Context.root()).start().close();
      telemetry.flush(Duration.ofSeconds(15));
    }
    return telemetry.spanCounts();
  }
}
