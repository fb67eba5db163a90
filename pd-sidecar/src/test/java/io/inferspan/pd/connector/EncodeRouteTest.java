package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.telemetry.Scrape;
import java.net.http.HttpResponse;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests the conditions for an encode stage, and the stages after it. */
@ExtendWith(Cleanliness.class)
final class EncodeRouteTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String ENCODERS = "x-encoder-hosts-ports";

  private final ScriptedEngine first = ScriptedEngine.answering("{}");
  private final ScriptedEngine prefiller = ScriptedEngine.answering("{}");
  private final ScriptedEngine decoder = ScriptedEngine.answering("{}");

  private SidecarRig sidecar(String... flags) {
    return SidecarRig.before(decoder.port())
        .with("--ec-connector=ec-nixl")
        .with(flags)
        .env("POD_IP", "10.1.2.3")
        .start();
  }

  @AfterEach
  void stop() {
    first.close();
    prefiller.close();
    decoder.close();
  }

  private static String image(String url) {
    return "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + url + "\"}}";
  }

  private static String chat(String... items) {
    return "{\"messages\":[{\"content\":[" + String.join(",", items) + "]}]}";
  }

  @Test
  void moreThanAThousandItems_areRefused() {
    String[] items =
        IntStream.rangeClosed(0, 1000).mapToObj(i -> image("i" + i)).toArray(String[]::new);

    try (SidecarRig sidecar = sidecar()) {
      HttpResponse<String> answer = sidecar.post(CHAT, chat(items), ENCODERS, first.authority());
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains("BadRequestError", "more than 1000");
    }
    assertThat(first.requests()).isEmpty();
  }

  @Test
  void afterEncode_withoutPrefiller_blocksArePulledFromTheSource() {
    try (SidecarRig pulling = sidecar("--enable-p2p-pull", "--p2p-connector-port=7000")) {
      pulling.post(
          CHAT,
          chat(image("a")),
          ENCODERS,
          first.authority(),
          "x-kv-cache-source-host-port",
          "10.9.9.9:8000");
    }

    assertThat(decoder.onlyBody().at("/kv_transfer_params/remote_kv_source/remote_host").asText())
        .isEqualTo("10.9.9.9");
  }

  @Test
  void requestServedByOneEngine_isNotCountedAsDisaggregated() {
    try (Scrape scrape = new Scrape(FreePort.next());
        SidecarRig counting = sidecar("--metrics-port=" + scrape.port())) {
      counting.post(CHAT, "{\"messages\":[]}", ENCODERS, first.authority());
      counting.post(CHAT, "{", "x-prefiller-host-port", prefiller.authority());
      counting.post(CHAT, "{", ENCODERS, first.authority());

      assertThat(scrape.awaitZero("inferspan_pd_requests_in_flight").entrySet())
          .filteredOn(sample -> sample.getKey().contains("disagg_requests_total"))
          .isNotEmpty()
          .allSatisfy(sample -> assertThat(sample.getValue()).isZero());
    }
  }
}
