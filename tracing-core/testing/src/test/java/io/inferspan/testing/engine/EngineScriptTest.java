package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.EngineClient.CHAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineScriptTest {
  @Test
  void content_isOneTokenPerWord_includingWhiteSpace() throws Exception {
    try (FakeEngine engine = FakeEngine.start()) {
      engine.script(EngineScript.builder().content(" Grüße,  big\nworld ").build());

      List<SseEvent> events = EngineClient.stream(engine, CHAT, "{\"stream\":true}");

      assertThat(events.subList(1, events.size() - 2))
          .extracting(event -> event.json().at("choices.0.delta.content"))
          .containsExactly(" Grüße,", "  big", "\nworld", " ");
      assertThat(EngineClient.json(engine, CHAT, "{}").at("choices.0.message.content"))
          .isEqualTo(" Grüße,  big\nworld ");
    }
  }

  @Test
  void zeroTokens_areAValidResponse() throws Exception {
    try (FakeEngine engine = FakeEngine.start()) {
      engine.script(EngineScript.builder().content("").build());

      assertThat(EngineClient.json(engine, CHAT, "{}").at("choices.0.message.content"))
          .isEqualTo("");
      assertThat(EngineClient.stream(engine, CHAT, "{\"stream\":true}")).hasSize(3);
    }
  }

  @Test
  void cacheHitThreshold_endsTheResponse_ifTooLittleIsCached() throws Exception {
    try (FakeEngine engine = FakeEngine.start()) {
      engine.script(EngineScript.builder().cachedTokens(1).build());

      assertThat(finishReason(engine, "0.51")).isEqualTo("cache_threshold");
      assertThat(finishReason(engine, "0.5")).isEqualTo("stop");
      assertThat(finishReason(engine, "0")).isEqualTo("stop");
    }
  }

  @Test
  void shortGaps_areCorrectOnAverage() throws Exception {
    EngineScript script =
        EngineScript.builder().tokens(5001).betweenTokens(Duration.ofNanos(10_000)).build();
    try (FakeEngine engine = FakeEngine.builder().script(script).start()) {
      EngineClient.post(engine, CHAT, "{}");
      long started = System.nanoTime();
      EngineClient.post(engine, CHAT, "{}");

      assertThat(Duration.ofNanos(System.nanoTime() - started))
          .isBetween(Duration.ofMillis(50), Duration.ofMillis(2500));
    }
  }

  @Test
  void toBuilder_changesOnlyACopy() throws Exception {
    EngineScript first = EngineScript.builder().tokens(1).model("m").cutBeforeHeaders().build();
    EngineScript second = first.toBuilder().tokens(2).noFault().build();
    try (FakeEngine engine = FakeEngine.builder().script(second).start()) {
      JsonTree json = EngineClient.json(engine, CHAT, "{}");

      assertThat(json.at("model")).isEqualTo("m");
      assertThat(json.at("usage.completion_tokens")).isEqualTo(2L);
      assertThat(first.tokens).isEqualTo(1);
    }
  }

  @Test
  void prefillTime_growsWithPromptTokensThatAreNotCached() {
    EngineScript script =
        EngineScript.builder()
            .prefill(Duration.ofNanos(100))
            .prefillPerToken(Duration.ofNanos(10))
            .cachedTokens(4)
            .build();

    assertThat(script.prefillNanos(6)).isEqualTo(120);
    assertThat(script.prefillNanos(3)).isEqualTo(100);
  }

  @Test
  void invalidValues_areRejectedImmediately() {
    EngineScript.Builder builder = EngineScript.builder();

    assertThatThrownBy(() -> builder.tokens(-1)).hasMessage("tokens must not be negative, was -1");
    assertThatThrownBy(() -> builder.queue(Duration.ofNanos(-1))).hasMessageContaining("queue");
    assertThatThrownBy(() -> builder.cutAfterTokens(-1)).hasMessageContaining("tokens");
    assertThatThrownBy(() -> builder.failWith(99, "")).hasMessageContaining("99");
  }

  private static Object finishReason(FakeEngine engine, String threshold) throws Exception {
    String body = "{\"prompt\":\"a b\",\"cache_hit_threshold\":" + threshold + "}";
    Object reason =
        EngineClient.json(engine, "/v1/completions", body).at("choices.0.finish_reason");
    return reason == null ? "none" : reason;
  }
}
