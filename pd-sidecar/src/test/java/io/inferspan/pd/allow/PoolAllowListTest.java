package io.inferspan.pd.allow;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Logged;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import java.net.ServerSocket;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PoolAllowListTest {
  private static final String GROUP = "inference.networking.k8s.io";
  private static final Map<String, String> LLAMA = Map.of("app", "llama", "example.com/role", "p");
  private static final Map<String, String> QWEN = Map.of("app", "qwen");
  private static final Vertx VERTX = Vertx.vertx();

  private final Logged log = new Logged(PoolAllowList.class);
  private FakeApiServer server;

  @BeforeEach
  void start() {
    server = new FakeApiServer(VERTX);
    server.putPool("pool", LLAMA);
    server.putPool("other", QWEN);
    server.putPod("prefill-0", "10.0.0.1", LLAMA);
    server.putPod("qwen-0", "10.0.0.9", QWEN);
  }

  @AfterEach
  void stop() {
    server.close();
    log.close();
  }

  @AfterAll
  static void close() {
    VERTX.close().await();
  }

  @Test
  void podsOfThePool_areAllowedByAddressAndName() {
    try (PoolAllowList list = watch()) {
      Awaited.soon(() -> list.allows("10.0.0.1:8000"));
      assertThat(list.allows("prefill-0")).isTrue();
      assertThat(list.allows("PREFILL-0:1234")).isTrue();
      assertThat(list.allows("http://10.0.0.1:9")).isTrue();
      assertThat(list.allows("10.0.0.9:8000")).isFalse();
      assertThat(list.allows("qwen-0")).isFalse();
      assertThat(server.tokens).allMatch("Bearer secret-token"::equals);
      assertThat(server.requests)
          .first()
          .isEqualTo(
              "/apis/inference.networking.k8s.io/v1/namespaces/models/inferencepools"
                  + "?fieldSelector=metadata.name%3Dpool");
    }
  }

  @Test
  void poolOfTheOldApi_hasAFlatSelector() {
    server.putOldPool("pool", LLAMA);
    String group = "inference.networking.x-k8s.io";
    try (PoolAllowList list = PoolAllowList.watch(VERTX, server.api(), "models", "pool", group)) {
      Awaited.soon(() -> list.allows("prefill-0"));
      assertThat(list.allows("qwen-0")).isFalse();
      assertThat(server.requests.getFirst()).startsWith("/apis/" + group + "/v1alpha2/");
    }
  }

  @Test
  void addedChangedAndDeletedPods_areFollowed() {
    try (PoolAllowList list = watching()) {
      server.putPod("prefill-1", "", LLAMA, "Pending");
      Awaited.soon(() -> list.allows("prefill-1"));
      server.putPod("prefill-1", "fd00::1", LLAMA);
      Awaited.soon(() -> list.allows("[FD00:0::1]:8000"));
      server.putPod("prefill-1", "10.0.0.2", LLAMA);
      Awaited.soon(() -> list.allows("10.0.0.2"));
      assertThat(list.allows("fd00::1")).isFalse();
      server.deletePod("prefill-1");
      Awaited.soon(() -> !list.allows("10.0.0.2"));
      assertThat(list.allows("prefill-0")).isTrue();
      assertThat(server.lists("/pods")).isEqualTo(1);
    }
  }

  @Test
  void terminatedPod_isNotAllowed() {
    try (PoolAllowList list = watching()) {
      server.putPod("prefill-0", "10.0.0.1", LLAMA, "Failed");
      Awaited.soon(() -> !list.allows("10.0.0.1"));
    }
  }

  @Test
  void changedSelector_changesThePods() {
    try (PoolAllowList list = watching()) {
      server.putPool("pool", QWEN);
      Awaited.soon(() -> list.allows("qwen-0"));
      assertThat(list.allows("prefill-0")).isFalse();
      server.putPod("prefill-3", "10.0.0.3", LLAMA);
      server.putPod("qwen-3", "10.0.0.4", QWEN);
      Awaited.soon(() -> list.allows("qwen-3"));
      assertThat(list.allows("prefill-3")).isFalse();
    }
  }

  @Test
  void deletedAndRecreatedPool_isFollowed() {
    try (PoolAllowList list = watching()) {
      server.deletePool("pool");
      Awaited.soon(() -> !list.allows("prefill-0"));
      server.putPool("pool", LLAMA);
      Awaited.soon(() -> list.allows("prefill-0"));
    }
  }

  @Test
  void missingPool_allowsNothingUntilItIsCreated() {
    server.deletePool("pool");
    try (PoolAllowList list = watch()) {
      Awaited.soon(() -> server.watches("inferencepools") == 1);
      assertThat(list.allows("prefill-0")).isFalse();
      assertThat(log.warnings())
          .containsExactly("The inference pool models/pool does not exist, so it allows no host.");
      server.putPool("pool", LLAMA);
      Awaited.soon(() -> list.allows("prefill-0"));
    }
  }

  @Test
  void poolWithoutLabels_selectsNothing() {
    server.putPool("pool", Map.of());
    try (PoolAllowList list = watch()) {
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(list.allows("prefill-0")).isFalse();
      assertThat(log.warnings().getFirst()).contains("selects no pods");
      assertThat(server.lists("/pods")).isZero();
    }
  }

  @Test
  void endedWatch_continuesFromItsLastVersion() {
    try (PoolAllowList list = watching()) {
      server.bookmark();
      long version = server.version();
      server.endWatches();
      Awaited.soon(() -> server.watches("/pods") == 2 && server.watches("pools") == 2);
      assertThat(server.requests)
          .last()
          .asString()
          .endsWith("timeoutSeconds=30&resourceVersion=" + version);
      assertThat(server.lists("")).isEqualTo(2);
      server.putPod("prefill-1", "10.0.0.2", LLAMA);
      Awaited.soon(() -> list.allows("prefill-1"));
    }
  }

  @Test
  void changeBetweenTwoWatches_isNotLost() {
    try (PoolAllowList list = watching()) {
      server.endWatches();
      server.putPod("prefill-1", "10.0.0.2", LLAMA);
      Awaited.soon(() -> list.allows("prefill-1"));
    }
  }

  @Test
  void goneInsideAWatch_listsAgain() {
    try (PoolAllowList list = watching()) {
      server.expireWatches();
      server.deletePod("prefill-0");
      Awaited.soon(() -> !list.allows("prefill-0"));
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void goneInsteadOfAWatch_listsAgain() {
    try (PoolAllowList list = watching()) {
      server.watchesRefused410 = true;
      server.endWatches();
      server.deletePod("prefill-0");
      Awaited.soon(() -> !list.allows("prefill-0"));
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void unreachableServer_deniesAllAndWarnsOnce() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    KubernetesApi api = new KubernetesApi(URI.create("http://127.0.0.1:" + port), () -> "", null);
    try (PoolAllowList list = PoolAllowList.watch(VERTX, api, "models", "pool", GROUP)) {
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(list.allows("10.0.0.1")).isFalse();
      try (FakeApiServer late =
          new FakeApiServer(VERTX, new HttpServerOptions().setHost("127.0.0.1").setPort(port))) {
        late.putPool("pool", LLAMA);
        late.putPod("prefill-0", "10.0.0.1", LLAMA);
        Awaited.soon(() -> list.allows("10.0.0.1"));
      }
      assertThat(log.warnings().getFirst())
          .startsWith("The API server cannot be queried for inference pool models/pool (")
          .endsWith("); no host of the pool is allowed until its pods are listed.");
    }
  }

  @Test
  void unreachableServerLater_keepsTheLastListAndWarnsOnce() {
    try (PoolAllowList list = watching()) {
      server.status = 503;
      server.cutConnections();
      Awaited.soon(() -> server.lists("/pods") >= 4);
      assertThat(list.allows("prefill-0")).isTrue();
      assertThat(log.warnings())
          .hasSize(2)
          .anyMatch(w -> w.contains("for the pods of inference pool models/pool ("))
          .allMatch(w -> w.endsWith("the last 1 pods stay allowed."));
      server.deletePod("prefill-0");
      server.status = 200;
      Awaited.soon(() -> !list.allows("prefill-0"));
    }
  }

  @Test
  void refusedServiceAccount_warningNamesThePermissions() {
    server.status = 403;
    try (PoolAllowList list = watch()) {
      Awaited.soon(() -> server.requests.size() >= 3);
      assertThat(list.allows("prefill-0")).isFalse();
      assertThat(log.warnings())
          .containsExactly(
              "The API server cannot be queried for inference pool models/pool (HTTP 403; the"
                  + " service account needs the verbs get, list and watch); no host of the pool is"
                  + " allowed until its pods are listed.");
    }
  }

  @Test
  void token_isReadForEachRequest() {
    var tokens = new CopyOnWriteArrayList<>(java.util.List.of("one"));
    KubernetesApi api = new KubernetesApi(server.api().base(), tokens::getLast, null);
    server.status = 401;
    try (PoolAllowList list = PoolAllowList.watch(VERTX, api, "models", "pool", GROUP)) {
      Awaited.soon(() -> !server.tokens.isEmpty());
      tokens.add("two");
      Awaited.soon(() -> server.tokens.contains("Bearer two"));
      server.status = 200;
      Awaited.soon(() -> list.allows("prefill-0"));
    }
  }

  @Test
  void invalidJson_isAnOutage() {
    server.garbled = true;
    try (PoolAllowList list = watch()) {
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(log.warnings().getFirst()).contains("(invalid JSON)");
      server.garbled = false;
      Awaited.soon(() -> list.allows("prefill-0"));
    }
  }

  @Test
  void closedList_leavesNoConnectionAndKeepsItsEntries() {
    PoolAllowList list = watching();
    assertThat(server.connections()).isPositive();
    list.close();
    list.close();
    Awaited.soon(() -> server.connections() == 0);
    assertThat(list.allows("prefill-0")).isTrue();
  }

  private PoolAllowList watch() {
    return PoolAllowList.watch(VERTX, server.api(), "models", "pool", GROUP);
  }

  /** With both watches under way. */
  private PoolAllowList watching() {
    PoolAllowList list = watch();
    Awaited.soon(() -> list.allows("prefill-0"));
    Awaited.soon(() -> server.watches("/pods") == 1 && server.watches("pools") == 1);
    return list;
  }
}
