package io.inferspan.pd.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Logged;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTlsReloadTest {
  private final Instant now = Instant.now();
  @TempDir Path directory;

  @Test
  void swappedSecret_isServedWithoutRestart() throws Exception {
    SecretVolume secret = new SecretVolume(directory);
    secret.put(identity("first"));
    try (ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      assertThat(served(server)).isEqualTo("O=first");
      secret.put(identity("second"));
      Awaited.soon(() -> served(server).equals("O=second"));
    }
  }

  @Test
  void quickSwaps_endWithTheLastCertificate() throws Exception {
    SecretVolume secret = new SecretVolume(directory);
    secret.put(identity("first"));
    try (Logged log = new Logged(ServerTls.class);
        ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      secret.put(identity("second"));
      secret.put(identity("third!"));
      Awaited.soon(() -> served(server).equals("O=third!"));
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void filesRewrittenInPlace_areServed() throws Exception {
    write(identity("first"));
    try (ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      write(identity("second"));
      Awaited.soon(() -> served(server).equals("O=second"));
    }
  }

  @Test
  void invalidNewFile_keepsTheOldCertificateAndWarnsOnce() throws Exception {
    SecretVolume secret = new SecretVolume(directory);
    secret.put(identity("first"));
    try (Logged log = new Logged(ServerTls.class);
        ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      secret.put("garbage", "garbage");
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(served(server)).isEqualTo("O=first");
      secret.put(identity("second"));
      Awaited.soon(() -> served(server).equals("O=second"));
      assertThat(log.warnings())
          .containsExactly(
              directory.resolve("tls.crt")
                  + " holds no certificate; a PEM chain is expected."
                  + " The old certificate stays in use.");
    }
  }

  @Test
  void expiredNewCertificate_keepsTheOldOne() throws Exception {
    SecretVolume secret = new SecretVolume(directory);
    secret.put(identity("first"));
    try (Logged log = new Logged(ServerTls.class);
        ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      secret.put(expired());
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(log.warnings().getFirst()).contains("has expired");
      assertThat(served(server)).isEqualTo("O=first");
    }
  }

  @Test
  void expiredCertificateAtStart_isServedWithAWarning() throws Exception {
    write(expired());
    try (Logged log = new Logged(ServerTls.class);
        ServerTls tls = ServerTls.from(directory);
        TlsServer server = new TlsServer(tls::current)) {
      assertThat(served(server)).isEqualTo("O=old");
      assertThat(log.warnings()).hasSize(1);
    }
  }

  @Test
  void closedTls_leavesNoThreadAndStillServes() throws Exception {
    write(identity("first"));
    ServerTls tls = ServerTls.from(directory);
    assertThat(watchThreads()).isEqualTo(1);
    tls.close();
    tls.close();
    assertThat(watchThreads()).isZero();
    try (TlsServer server = new TlsServer(tls::current)) {
      assertThat(served(server)).isEqualTo("O=first");
    }
  }

  @Test
  void missingDirectory_failsWithOneSentence() {
    assertThatThrownBy(() -> ServerTls.from(directory.resolve("none")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            directory.resolve("none/tls.crt")
                + " cannot be read (NoSuchFileException);"
                + " cert-path names a directory with tls.crt and tls.key.");
    assertThat(watchThreads()).isZero();
  }

  private Identity identity(String organisation) {
    return SelfSigned.create(organisation, now, now.plus(Duration.ofDays(1)));
  }

  private Identity expired() {
    return SelfSigned.create("old", now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(1)));
  }

  private void write(Identity identity) throws Exception {
    Files.writeString(
        directory.resolve("tls.crt"),
        SecretVolume.pem("CERTIFICATE", SecretVolume.certificate(identity)));
    Files.writeString(
        directory.resolve("tls.key"), SecretVolume.pem("PRIVATE KEY", SecretVolume.key(identity)));
  }

  private static String served(TlsServer server) {
    try {
      return TlsClient.any().shakeHands(server.port()).organisation();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long watchThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("inferspan-pd-certificate"))
        .count();
  }
}
