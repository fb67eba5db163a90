package io.inferspan.testing.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.testing.SdkSpans;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporterBuilder;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OtlpReceiverTlsTest {
  @TempDir static Path directory;

  private static TestCertificate server;
  private static TestCertificate client;
  private static TestCertificate stranger;

  @BeforeAll
  static void makeCertificates() {
    server = TestCertificate.createIn(directory);
    client = TestCertificate.createIn(directory);
    stranger = TestCertificate.createIn(directory);
  }

  /** Exports once, trusting {@code trusted}, with {@code own} as the client certificate. */
  private static boolean export(
      OtlpReceiver receiver,
      String protocol,
      TestCertificate trusted,
      @Nullable TestCertificate own) {
    try (SpanExporter exporter =
        protocol.equals("grpc") ? grpc(receiver, trusted, own) : http(receiver, trusted, own)) {
      return exporter.export(SdkSpans.rich()).join(20, TimeUnit.SECONDS).isSuccess();
    }
  }

  private static SpanExporter grpc(
      OtlpReceiver receiver, TestCertificate trusted, @Nullable TestCertificate own) {
    OtlpGrpcSpanExporterBuilder builder =
        OtlpGrpcSpanExporter.builder()
            .setEndpoint(receiver.endpoint())
            .setRetryPolicy(null)
            .setTrustedCertificates(trusted.certificateBytes());
    if (own != null) {
      builder.setClientTls(own.privateKeyBytes(), own.certificateBytes());
    }
    return builder.build();
  }

  private static SpanExporter http(
      OtlpReceiver receiver, TestCertificate trusted, @Nullable TestCertificate own) {
    OtlpHttpSpanExporterBuilder builder =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(receiver.httpTracesEndpoint())
            .setRetryPolicy(null)
            .setTrustedCertificates(trusted.certificateBytes());
    if (own != null) {
      builder.setClientTls(own.privateKeyBytes(), own.certificateBytes());
    }
    return builder.build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http"})
  void tls_servesOnlyClientsThatTrustIt(String protocol) {
    try (OtlpReceiver receiver = OtlpReceiver.builder().tls(server).start()) {
      assertThat(receiver.endpoint()).startsWith("https://localhost:");
      assertThat(export(receiver, protocol, stranger, null)).isFalse();
      assertThat(receiver.requestCount()).isZero();
      assertThat(export(receiver, protocol, server, null)).isTrue();
      assertThat(receiver.spans()).hasSize(2);
      assertThat(receiver.protocols()).containsExactly(protocol);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http"})
  void mutualTls_servesOnlyKnownClients(String protocol) {
    try (OtlpReceiver receiver =
        OtlpReceiver.builder()
            .tls(server.certificatePem(), server.privateKeyPem())
            .clientCa(client.certificatePem())
            .start()) {
      assertThat(export(receiver, protocol, server, null)).as("no certificate").isFalse();
      assertThat(export(receiver, protocol, server, stranger)).as("unknown").isFalse();
      assertThat(receiver.requestCount()).isZero();
      assertThat(export(receiver, protocol, server, client)).isTrue();
      assertThat(receiver.spans()).hasSize(2);
    }
  }

  @Test
  void invalidSettings_areReportedAtTheStart() {
    Path missing = directory.resolve("missing.pem");
    assertThatThrownBy(() -> OtlpReceiver.builder().tls(missing, server.privateKeyPem()).start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot read PEM file " + missing);
    assertThatThrownBy(() -> OtlpReceiver.builder().clientCa(client.certificatePem()).start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("clientCa needs tls");
    assertThatThrownBy(
            () ->
                OtlpReceiver.builder().tls(server.privateKeyPem(), server.certificatePem()).start())
        .as("key and certificate swapped")
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot listen");
  }
}
