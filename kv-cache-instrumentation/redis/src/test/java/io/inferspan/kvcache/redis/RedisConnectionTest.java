package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.testing.otlp.TestCertificate;
import io.opentelemetry.context.Context;
import io.vertx.core.net.PemTrustOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ways to a server: TCP and sockets in the file system, with login, database and TLS. */
class RedisConnectionTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final Duration LONG = Duration.ofSeconds(20);

  @BeforeEach
  void needsServer() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
  }

  @Test
  void anAddressWithoutScheme_isTcp() {
    try (RedisServer server = RedisServer.start()) {
      holdsABlock(RedisIndexOptions.single("127.0.0.1:" + server.port()));
    }
  }

  @Test
  void aSocketInTheFileSystem_isAnAddress() {
    try (RedisServer server = RedisServer.start()) {
      holdsABlock(RedisIndexOptions.single("unix://" + server.socket() + "?db=4"));
      assertThat(keysIn(server, "4")).containsExactly("1");
    }
  }

  @Test
  void theDatabaseOfTheAddress_isUsed() {
    try (RedisServer server = RedisServer.start()) {
      holdsABlock(RedisIndexOptions.single(server.address() + "/3"));
      assertThat(keysIn(server, "0")).isEmpty();
      assertThat(keysIn(server, "3")).containsExactly("1");
    }
  }

  @Test
  void aPassword_comesFromTheAddressOrFromCredentials() {
    try (RedisServer server = RedisServer.start("--requirepass", "s3/cr+t@")) {
      String place = "127.0.0.1:" + server.port();
      holdsABlock(RedisIndexOptions.single("redis://:s3%2Fcr+t%40@" + place));
      holdsABlock(RedisIndexOptions.single(place).credentials(null, "s3/cr+t@"));
      holdsABlock(RedisIndexOptions.single(place).credentials("default", "s3/cr+t@"));
    }
  }

  @Test
  void aWrongPassword_isAFailureWithoutThePassword() {
    try (RedisServer server = RedisServer.start("--requirepass", "right");
        RedisBlockIndex index =
            RedisBlockIndex.open(
                RedisIndexOptions.single(server.address()).credentials(null, "wrong").build())) {
      Awaited.within(
          LONG, "attempts", () -> index.counts().get(RedisIndexCount.FAILED_CONNECTS) >= 3);
      assertThat(lookup(index).failure()).isEqualTo("Redis refused: WRONGPASS");
    }
  }

  @Test
  void tls_checksTheServersCertificate(@TempDir Path directory) {
    TestCertificate mine = TestCertificate.createIn(directory);
    TestCertificate other = TestCertificate.createIn(directory);
    int port = RedisServer.freePort();
    try (RedisServer server = encrypted(mine, port)) {
      assertThat(server.port()).isNotEqualTo(port);
      String address = "rediss://localhost:" + port;
      holdsABlock(RedisIndexOptions.single(address).trust(trust(mine)));
      try (RedisBlockIndex index =
          RedisBlockIndex.open(RedisIndexOptions.single(address).trust(trust(other)).build())) {
        Awaited.within(
            LONG, "attempts", () -> index.counts().get(RedisIndexCount.FAILED_CONNECTS) >= 3);
        assertThat(index.counts().get(RedisIndexCount.CONNECTS)).isZero();
        assertThat(lookup(index).failure()).isNotNull();
      }
    }
  }

  private static RedisServer encrypted(TestCertificate certificate, int port) {
    return RedisServer.start(
        "--tls-port",
        Integer.toString(port),
        "--tls-cert-file",
        certificate.certificatePem().toString(),
        "--tls-key-file",
        certificate.privateKeyPem().toString(),
        "--tls-ca-cert-file",
        certificate.certificatePem().toString(),
        "--tls-auth-clients",
        "no");
  }

  private static PemTrustOptions trust(TestCertificate certificate) {
    return new PemTrustOptions().addCertPath(certificate.certificatePem().toString());
  }

  private static List<String> keysIn(RedisServer server, String database) {
    try (RawRedis raw = server.connect()) {
      raw.send("SELECT", database);
      return raw.keys();
    }
  }

  /** In a fresh JVM a first handshake takes its time. */
  private static void holdsABlock(RedisIndexOptions.Builder options) {
    options.connectTimeout(LONG).writeTimeout(LONG);
    try (RedisBlockIndex index = RedisBlockIndex.open(options.build())) {
      done(index.add(new long[0], new long[] {1}, List.of(A), Context.root()));
      Awaited.within(LONG, "the block", () -> lookup(index).at(0).length == 1);
    }
  }

  private static BlockHits lookup(RedisBlockIndex index) {
    return done(index.lookup(new long[] {1}, Set.of(), new BlockHits(), Context.root()));
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
