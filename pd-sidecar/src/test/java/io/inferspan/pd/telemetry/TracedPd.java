package io.inferspan.pd.telemetry;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.OpenTelemetry;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A prefill engine, a decode engine and one sidecar per {@link SpanNaming}, all traced into one
 * recorder.
 */
final class TracedPd implements AutoCloseable {
  static final String CHAT = "/v1/chat/completions";
  static final String STREAMED =
      "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]}";
  static final String WHOLE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three\"}]}";
  static final String WITH_IMAGE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":["
          + "{\"type\":\"text\",\"text\":\"one two three\"},"
          + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,x\"}}]}]}";
  static final String PREFILLER = "x-prefiller-host-port";

  private final OpenTelemetry recorder;
  private final FakeEngine prefiller;
  private final FakeEngine decoder;
  private final FakeEngine encoder;
  private final ScriptedEngine bootstrap;
  private final Map<List<String>, SidecarRig> rigs = new HashMap<>();
  private final Map<SpanNaming, SidecarRig> lonely = new EnumMap<>(SpanNaming.class);
  private final int unusedPort = FreePort.next();

  TracedPd(OpenTelemetry recorder) {
    this.recorder = recorder;
    prefiller = FakeEngine.builder().openTelemetry(recorder).start();
    decoder = FakeEngine.builder().openTelemetry(recorder).start();
    encoder = FakeEngine.builder().openTelemetry(recorder).start();
    bootstrap = ScriptedEngine.answering("{\"0\":{\"engine_id\":\"e0\"}}");
  }

  FakeEngine prefiller() {
    return prefiller;
  }

  FakeEngine decoder() {
    return decoder;
  }

  FakeEngine encoder() {
    return encoder;
  }

  /** Returns the port of Mooncake's bootstrap server. */
  int bootstrapPort() {
    return bootstrap.port();
  }

  /** Returns a port without a listener. */
  int unusedPort() {
    return unusedPort;
  }

  /** Returns the sidecar in front of the decoder, which allows engines on this host. */
  SidecarRig rig(SpanNaming naming, String... flags) {
    List<String> key = new ArrayList<>(List.of(flags));
    key.add(naming.name());
    return rigs.computeIfAbsent(key, _ -> before(decoder.port(), naming, flags));
  }

  /** Returns a sidecar whose decoder does not listen. */
  SidecarRig withoutDecoder(SpanNaming naming) {
    return lonely.computeIfAbsent(naming, names -> before(unusedPort, names));
  }

  private SidecarRig before(int port, SpanNaming naming, String... flags) {
    return SidecarRig.before(port)
        .with("--enable-ssrf-protection=true", "--allow-target=127.0.0.1")
        .with(flags)
        .tracedBy(recorder, naming)
        .start();
  }

  /** Returns the values that vary between runs, and their placeholders. */
  Map<String, String> names() {
    return Map.of(
        String.valueOf(prefiller.port()), "<prefiller>",
        String.valueOf(decoder.port()), "<decoder>",
        String.valueOf(encoder.port()), "<encoder>",
        String.valueOf(unusedPort), "<unused>");
  }

  /** Resets the scripts of both engines. */
  void reset() {
    prefiller.script(EngineScript.normal());
    decoder.script(EngineScript.normal());
    prefiller.clearRequests();
    decoder.clearRequests();
    encoder.clearRequests();
  }

  @Override
  public void close() {
    rigs.values().forEach(SidecarRig::close);
    lonely.values().forEach(SidecarRig::close);
    prefiller.close();
    decoder.close();
    encoder.close();
    bootstrap.close();
  }
}
