package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.inferspan.Telemetry;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class PodAddressesTest {
  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration NEVER = Duration.ofDays(1);

  private final SidecarMetrics metrics =
      SidecarMetrics.create(Telemetry.using(OpenTelemetry.noop()));
  private final List<String> asked = new ArrayList<>();
  private final Deque<Future<String>> answers = new ArrayDeque<>();

  @AfterEach
  void close() {
    metrics.close();
  }

  private PodAddresses pods(Duration ttl, String... hosts) {
    PodAddresses pods = PodAddresses.of(List.of(hosts), ttl, this::answer, metrics.registry());
    pods.known();
    return pods;
  }

  private Future<String> answer(String name) {
    asked.add(name);
    return answers.remove();
  }

  private double counted(String name) {
    return metrics.registry().get(name).counter().count();
  }

  @Test
  void names_becomeAddresses_andAddressesStay() {
    answers.add(Future.succeededFuture("10.0.0.1"));

    PodAddresses pods = pods(NEVER, "prefill-0.ns.svc", "10.0.0.7", "fd00::1");

    assertThat(pods.of("prefill-0.ns.svc")).isEqualTo("10.0.0.1");
    assertThat(pods.of("10.0.0.7")).isEqualTo("10.0.0.7");
    assertThat(pods.of("fd00::1")).isEqualTo("fd00::1");
    assertThat(asked).containsExactly("prefill-0.ns.svc");
  }

  @Test
  void freshAddress_isNotResolvedAgain() {
    answers.add(Future.succeededFuture("10.0.0.1"));

    PodAddresses pods = pods(NEVER, "p");
    pods.of("p");
    pods.of("p");

    assertThat(asked).hasSize(1);
  }

  @Test
  void expiredAddress_isUsedWhileItIsResolved() {
    Promise<String> later = Promise.promise();
    answers.add(Future.succeededFuture("10.0.0.1"));
    answers.add(later.future());
    PodAddresses pods = pods(AT_ONCE, "p");

    assertThat(pods.of("p")).isEqualTo("10.0.0.1");
    assertThat(pods.of("p")).as("resolved once only").isEqualTo("10.0.0.1");
    assertThat(asked).hasSize(2);

    answers.add(Promise.<String>promise().future());
    later.complete("10.0.0.2");
    assertThat(pods.of("p")).isEqualTo("10.0.0.2");
    assertThat(counted("moriio_dns_reresolve")).isEqualTo(2);
    assertThat(counted("moriio_dns_ip_changed")).isEqualTo(1);
  }

  @Test
  void failedLookup_keepsTheOldAddress() {
    answers.add(Future.succeededFuture("10.0.0.1"));
    answers.add(Future.failedFuture("no such name"));
    PodAddresses pods = pods(AT_ONCE, "p");

    assertThat(pods.of("p")).isEqualTo("10.0.0.1");
    answers.add(Future.succeededFuture("10.0.0.1"));
    assertThat(pods.of("p")).isEqualTo("10.0.0.1");
    assertThat(counted("moriio_dns_lookup_failures")).isEqualTo(1);
    assertThat(counted("moriio_dns_ip_changed")).isZero();
  }

  @Test
  void unresolvedName_isUsedAsTheAddress() {
    answers.add(Future.failedFuture("no such name"));

    assertThat(pods(NEVER, "p").of("p")).isEqualTo("p");
  }

  @Test
  void engines_getAddressesInsteadOfNames() {
    try (ScriptedEngine prefiller =
            ScriptedEngine.answering("{\"kv_transfer_params\":{\"remote_block_ids\":[1]}}");
        ScriptedEngine decoder = ScriptedEngine.answering("{}");
        SidecarRig sidecar =
            SidecarRig.before(decoder.port())
                .env("POD_IP", "localhost")
                .with("--moriio-write-mode", "--moriio-decode-hosts=localhost")
                .start()) {
      sidecar.post("/v1/chat/completions", "{}", "x-prefiller-host-port", prefiller.authority());

      JsonNode params =
          ScriptedEngine.parse(prefiller.requests().getLast().getBodyAsString())
              .get("kv_transfer_params");
      assertThat(params.get("remote_host").textValue()).isEqualTo("127.0.0.1");
      assertThat(params.get("remote_hosts")).isEqualTo(ScriptedEngine.parse("[\"127.0.0.1\"]"));
    }
  }
}
