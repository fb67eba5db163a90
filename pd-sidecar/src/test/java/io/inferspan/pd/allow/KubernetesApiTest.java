package io.inferspan.pd.allow;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Logged;
import io.inferspan.testing.otlp.TestCertificate;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubernetesApiTest {
  private static final Map<String, String> INSIDE =
      Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "6443");
  @TempDir Path account;

  @Test
  void pod_findsItsApiServer() throws Exception {
    Files.writeString(account.resolve("ca.crt"), "");
    Path token = Files.writeString(account.resolve("token"), "one\n");
    KubernetesApi api = KubernetesApi.inCluster(INSIDE, account);
    assertThat(api.base()).hasToString("https://[fd00::1]:6443");
    assertThat(api.token().get()).isEqualTo("one");
    Files.writeString(token, "two");
    assertThat(api.token().get()).isEqualTo("two");
    assertThat(api.toString()).doesNotContain("two");
  }

  @Test
  void serverWithAnIpv6Address_isReached() throws Exception {
    Path addresses = Path.of("/proc/net/if_inet6");
    assumeTrue(
        Files.exists(addresses) && Files.readString(addresses).contains(" lo\n"),
        "needs IPv6 on the loopback interface");
    Vertx vertx = Vertx.vertx();
    try (FakeApiServer server =
        new FakeApiServer(vertx, new HttpServerOptions().setHost("::1").setPort(0))) {
      server.putPool("pool", Map.of("app", "x"));
      server.putPod("prefill-0", "10.0.0.1", Map.of("app", "x"));
      URI base = URI.create("http://[::1]:" + server.port());
      KubernetesApi api = new KubernetesApi(base, () -> "", null);
      try (PoolAllowList list =
          PoolAllowList.watch(vertx, api, "models", "pool", "inference.networking.k8s.io")) {
        Awaited.soon(() -> list.allows("prefill-0"));
      }
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void outsideACluster_failsWithOneSentence() {
    assertThatThrownBy(() -> KubernetesApi.inCluster(Map.of(), account))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("The inference pool can be watched only inside a Kubernetes");
  }

  @Test
  void podWithoutToken_failsWithOneSentence() {
    assertThatThrownBy(() -> KubernetesApi.inCluster(INSIDE, account))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "The inference pool cannot be watched: "
                + account.resolve("token")
                + " cannot be read; the pod needs a mounted service account token.");
  }

  @Test
  void server_isTrustedOnlyWithTheCaOfTheServiceAccount() throws Exception {
    TestCertificate own = TestCertificate.createIn(account);
    HttpServerOptions tls =
        new HttpServerOptions()
            .setHost("127.0.0.1")
            .setPort(0)
            .setSsl(true)
            .setKeyCertOptions(
                new PemKeyCertOptions()
                    .addCertPath(own.certificatePem().toString())
                    .addKeyPath(own.privateKeyPem().toString()));
    Files.writeString(account.resolve("token"), "token");
    Vertx vertx = Vertx.vertx();
    try (Logged log = new Logged(PoolAllowList.class);
        FakeApiServer server = new FakeApiServer(vertx, tls)) {
      server.putPool("pool", Map.of("app", "x"));
      server.putPod("prefill-0", "10.0.0.1", Map.of("app", "x"));
      Files.copy(own.certificatePem(), account.resolve("ca.crt"));
      try (PoolAllowList list = watch(vertx, server)) {
        Awaited.soon(() -> list.allows("prefill-0"));
      }
      try (InputStream other = KubernetesApiTest.class.getResourceAsStream("/tls/rsa.crt")) {
        Files.copy(requireNonNull(other), account.resolve("ca.crt"), REPLACE_EXISTING);
      }
      try (PoolAllowList list = watch(vertx, server)) {
        Awaited.soon(() -> !log.warnings().isEmpty());
        assertThat(list.allows("prefill-0")).isFalse();
      }
    } finally {
      vertx.close().await();
    }
  }

  private PoolAllowList watch(Vertx vertx, FakeApiServer server) {
    Map<String, String> environment =
        Map.of(
            "KUBERNETES_SERVICE_HOST",
            "127.0.0.1",
            "KUBERNETES_SERVICE_PORT",
            String.valueOf(server.port()));
    KubernetesApi api = KubernetesApi.inCluster(environment, account);
    return PoolAllowList.watch(vertx, api, "models", "pool", "inference.networking.k8s.io");
  }
}
