package io.inferspan.pd.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerTlsTest {
  private static final List<String> NONE = List.of();

  @Test
  void selfSignedCertificate_isForLocalhostAndTenYears() throws Exception {
    try (ServerTls tls = ServerTls.selfSigned();
        TlsServer server = new TlsServer(tls::current)) {
      X509Certificate certificate = TlsClient.any().shakeHands(server.port()).certificate();
      certificate.checkValidity();
      certificate.verify(certificate.getPublicKey());
      assertThat(certificate.getVersion()).isEqualTo(3);
      assertThat(certificate.getPublicKey().getAlgorithm()).isEqualTo("EC");
      assertThat(certificate.getSubjectX500Principal().getName())
          .isEqualTo("O=Inferspan P/D sidecar");
      assertThat(certificate.getSubjectAlternativeNames().toString())
          .contains("localhost", "127.0.0.1", "0:0:0:0:0:0:0:1");
      assertThat(certificate.getNotAfter().toInstant())
          .isBetween(
              Instant.now().plus(Duration.ofDays(3651)), Instant.now().plus(Duration.ofDays(3654)));
      assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
      assertThat(certificate.getKeyUsage()[0]).isTrue();
    }
  }

  @Test
  void selfSignedCertificates_differ() {
    Identity one = SelfSigned.create(Instant.now());
    Identity other = SelfSigned.create(Instant.now());
    assertThat(one.certificate().getSerialNumber())
        .isNotEqualTo(other.certificate().getSerialNumber());
    assertThat(one.toString()).isEqualTo("Identity[O=Inferspan P/D sidecar]");
  }

  @Test
  void certificateBeyond2050_keepsItsDates() {
    Instant until = Instant.parse("2061-02-03T04:05:06Z");
    Identity identity = SelfSigned.create("late", Instant.parse("2049-12-31T23:59:59Z"), until);
    assertThat(identity.certificate().getNotAfter().toInstant()).isEqualTo(until);
    assertThat(identity.certificate().getNotBefore().toInstant())
        .isEqualTo(Instant.parse("2049-12-31T23:59:59Z"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"h2", "http/1.1"})
  void protocol_isNegotiated(String protocol) throws Exception {
    try (ServerTls tls = ServerTls.selfSigned();
        TlsServer server = new TlsServer(tls::current)) {
      TlsClient client = new TlsClient(NONE, NONE, List.of("other", protocol));
      assertThat(client.shakeHands(server.port()).alpn()).isEqualTo(protocol);
      assertThat(TlsClient.any().shakeHands(server.port()).alpn()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void tls12AndLater_areSupported(String version) throws Exception {
    try (ServerTls tls = ServerTls.selfSigned();
        TlsServer server = new TlsServer(tls::current)) {
      TlsClient client = new TlsClient(List.of(version), NONE, NONE);
      assertThat(client.shakeHands(server.port()).protocol()).isEqualTo(version);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
      })
  void strongSuitesOfTls12_areAccepted(String suite) throws Exception {
    try (ServerTls tls = ServerTls.selfSigned();
        TlsServer server = new TlsServer(tls::current)) {
      TlsClient client = new TlsClient(List.of("TLSv1.2"), List.of(suite), NONE);
      assertThat(client.shakeHands(server.port()).cipher()).isEqualTo(suite);
    }
  }

  @Test
  void cbcSuiteOfTls12_isRefused() {
    try (ServerTls tls = ServerTls.selfSigned();
        TlsServer server = new TlsServer(tls::current)) {
      List<String> cbc = List.of("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256");
      TlsClient client = new TlsClient(List.of("TLSv1.2"), cbc, NONE);
      assertThatThrownBy(() -> client.shakeHands(server.port())).isInstanceOf(SSLException.class);
    }
  }

  @Test
  void versionsBeforeTls12_areNotEnabled() {
    try (ServerTls tls = ServerTls.selfSigned()) {
      assertThat(
              tls.current()
                  .newEngine(io.netty.buffer.ByteBufAllocator.DEFAULT)
                  .getEnabledProtocols())
          .containsExactlyInAnyOrder("TLSv1.3", "TLSv1.2");
    }
  }
}
