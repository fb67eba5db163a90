package io.inferspan.testing.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestCertificateTest {
  @TempDir Path directory;

  @Test
  void certificate_isForLocalhostAndValidNow() throws Exception {
    TestCertificate made = TestCertificate.createIn(directory);
    X509Certificate certificate =
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(made.certificateBytes()));
    certificate.checkValidity();
    certificate.verify(certificate.getPublicKey());
    assertThat(certificate.getPublicKey().getAlgorithm()).isEqualTo("EC");
    assertThat(certificate.getSubjectAlternativeNames().toString())
        .contains("localhost", "127.0.0.1", "0:0:0:0:0:0:0:1");
    assertThat(new String(made.privateKeyBytes(), StandardCharsets.US_ASCII))
        .startsWith("-----BEGIN PRIVATE KEY-----\n")
        .endsWith("-----END PRIVATE KEY-----\n");
  }

  @Test
  void noOtherFile_remainsInTheDirectory() throws Exception {
    TestCertificate made = TestCertificate.createIn(directory);
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactlyInAnyOrder(made.certificatePem(), made.privateKeyPem());
    }
  }

  @Test
  void missingDirectory_isReported() {
    assertThatThrownBy(() -> TestCertificate.createIn(directory.resolve("none")))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("cannot create a test certificate in");
  }
}
