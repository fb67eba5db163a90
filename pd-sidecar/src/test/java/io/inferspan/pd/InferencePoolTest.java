package io.inferspan.pd;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.pd.allow.FakeApiServer;
import io.inferspan.pd.config.Invocation;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.Wire;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The inference pool determines which prefill pods a request may name. */
@Timeout(30)
final class InferencePoolTest {
  private static final int OK = 200;
  private static final int FORBIDDEN = 403;
  private static final Map<String, String> LLAMA = Map.of("app", "llama");
  private static final Map<String, String> QWEN = Map.of("app", "qwen");

  private final ScriptedEngine engine = ScriptedEngine.answering("{}");
  private final Loops loops = Loops.start("auto", 1);
  private final FakeApiServer kubernetes = new FakeApiServer(loops.vertx());

  @AfterEach
  void stop() {
    kubernetes.close();
    loops.close();
    engine.close();
  }

  private SidecarServer sidecar(String... more) throws Exception {
    List<String> flags =
        List.of(
            "--port=" + FreePort.next(),
            "--model-server-port=" + engine.port(),
            "--secure-proxy=false",
            "--enable-ssrf-protection",
            "--inference-pool=models/pool");
    SidecarConfig config =
        ((Invocation.Run)
                Invocation.parse(
                    Stream.concat(flags.stream(), List.of(more).stream()).toList(), Map.of()))
            .config();
    Telemetry untraced = Telemetry.using(OpenTelemetry.noop());
    return SidecarServer.start(config, loops, untraced, kubernetes::api);
  }

  private int status(SidecarServer sidecar, String host) {
    String head =
        "POST /v1/completions HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n%s: %s:%d\r\n\r\n{}"
            .formatted("x-prefiller-host-port", host, engine.port());
    try (Wire client = Wire.to(sidecar.port())) {
      return client.send(head).message().status();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void addedPod_isAllowed_andDeletedPodIsDenied() throws Exception {
    kubernetes.putPool("pool", LLAMA);
    try (SidecarServer sidecar = sidecar()) {
      assertThat(status(sidecar, "127.0.0.1")).isEqualTo(FORBIDDEN);
      assertThat(engine.requests()).isEmpty();

      kubernetes.putPod("prefill-0", "127.0.0.1", LLAMA);
      Awaited.soon(() -> status(sidecar, "127.0.0.1") == OK);

      kubernetes.deletePod("prefill-0");
      Awaited.soon(() -> status(sidecar, "127.0.0.1") == FORBIDDEN);
    }
  }

  @Test
  void poolWithAnotherSelector_allowsItsPods() throws Exception {
    kubernetes.putPool("pool", QWEN);
    kubernetes.putPod("prefill-0", "127.0.0.1", LLAMA);
    try (SidecarServer sidecar = sidecar()) {
      assertThat(status(sidecar, "127.0.0.1")).isEqualTo(FORBIDDEN);

      kubernetes.putPool("pool", LLAMA);

      Awaited.soon(() -> status(sidecar, "127.0.0.1") == OK);
    }
  }

  @Test
  void namedTargets_areAllowedInAdditionToThePool() throws Exception {
    kubernetes.putPool("pool", LLAMA);
    try (SidecarServer sidecar = sidecar("--allow-target=localhost")) {
      assertThat(status(sidecar, "localhost")).isEqualTo(OK);
      assertThat(status(sidecar, "127.0.0.1")).isEqualTo(FORBIDDEN);
    }
  }
}
