package io.inferspan.pd.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The PEM files under {@code /tls} were made with OpenSSL and are good for tests only. */
class IdentityTest {
  private final Identity made =
      SelfSigned.create("made", Instant.now(), Instant.now().plus(Duration.ofDays(1)));
  @TempDir Path directory;

  @BeforeEach
  void validPair_isRead() throws Exception {
    certificate(SecretVolume.pem("CERTIFICATE", SecretVolume.certificate(made)));
    key(SecretVolume.pem("PRIVATE KEY", SecretVolume.key(made)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ec-pkcs8",
        "ec-sec1",
        "ec-sec1-with-parameters",
        "rsa-pkcs8",
        "rsa-pkcs1",
        "ed25519-pkcs8"
      })
  void keysOfEveryCommonFormat_areRead(String name) throws Exception {
    certificate(resource(name.substring(0, name.indexOf('-')) + ".crt"));
    key(resource(name + ".key"));
    Identity identity = Identity.read(directory);
    assertThat(identity.certificate().getSubjectX500Principal().getName()).isEqualTo("O=test");
    assertThat(identity.key().getAlgorithm())
        .isEqualTo(identity.certificate().getPublicKey().getAlgorithm());
  }

  @Test
  void chain_isReadCompletely() throws Exception {
    String leaf = SecretVolume.pem("CERTIFICATE", SecretVolume.certificate(made));
    certificate("A comment.\n" + leaf + resource("rsa.crt"));
    assertThat(Identity.read(directory).chain()).hasSize(2);
  }

  @Test
  void keyOfAnotherCertificate_isRefused() throws Exception {
    key(SecretVolume.pem("PRIVATE KEY", SecretVolume.key(SelfSigned.create(Instant.now()))));
    refusedWith("does not belong to the certificate in");
  }

  @Test
  void keyOfAnotherAlgorithm_isRefused() throws Exception {
    key(resource("rsa-pkcs8.key"));
    refusedWith("whose algorithm is not that of tls.crt");
  }

  @Test
  void encryptedKey_isRefused() throws Exception {
    key(SecretVolume.pem("ENCRYPTED PRIVATE KEY", new byte[] {1}));
    refusedWith("tls.key is encrypted; a key without passphrase is expected.");
  }

  @Test
  void certificateFileWithoutCertificate_isRefused() throws Exception {
    certificate("nothing");
    refusedWith("tls.crt holds no certificate");
  }

  @Test
  void malformedCertificate_isRefused() throws Exception {
    certificate(SecretVolume.pem("CERTIFICATE", new byte[] {0x30, 2, 1}));
    refusedWith("tls.crt has a certificate that cannot be read");
  }

  @Test
  void missingKey_isRefused() throws Exception {
    Files.delete(directory.resolve("tls.key"));
    refusedWith("tls.key cannot be read (NoSuchFileException)");
  }

  @Test
  void keyFileWithoutKey_isRefused() throws Exception {
    key("");
    refusedWith("tls.key holds no private key");
  }

  @Test
  void malformedFiles_areRefusedAndNeverShown() throws Exception {
    Random random = new Random(7);
    String certificate = Files.readString(directory.resolve("tls.crt"));
    String key = Files.readString(directory.resolve("tls.key"));
    for (int i = 0; i < 300; i++) {
      certificate(garbled(certificate, random));
      key(garbled(key, random));
      try {
        Identity.read(directory);
      } catch (IllegalArgumentException e) {
        assertThat(e.getMessage()).contains(directory.toString()).doesNotContain("MIG", "\n");
      }
    }
  }

  private static String garbled(String text, Random random) {
    StringBuilder garbled = new StringBuilder(text);
    garbled.setCharAt(random.nextInt(text.length()), (char) (32 + random.nextInt(95)));
    return random.nextInt(4) == 0
        ? garbled.substring(random.nextInt(text.length()))
        : garbled.toString();
  }

  private void refusedWith(String part) {
    assertThatThrownBy(() -> Identity.read(directory))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(part)
        .hasNoCause();
  }

  private void certificate(String pem) throws Exception {
    Files.writeString(directory.resolve("tls.crt"), pem);
  }

  private void key(String pem) throws Exception {
    Files.writeString(directory.resolve("tls.key"), pem);
  }

  private static String resource(String name) throws Exception {
    try (var in = IdentityTest.class.getResourceAsStream("/tls/" + name)) {
      return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII);
    }
  }
}
