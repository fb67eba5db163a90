package io.inferspan.samples.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that client libraries can stream through a gateway on Vert.x and one on Netty. */
class ClientsTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int TOKENS = 6;
  private static final long PREFILL_MILLIS = 40;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Telemetry telemetry = Telemetry.using(tracing.openTelemetry());
  private final FakeEngine engine =
      FakeEngine.builder()
          .script(
              EngineScript.builder()
                  .prefill(Duration.ofMillis(PREFILL_MILLIS))
                  .betweenTokens(Duration.ofMillis(2))
                  .tokens(TOKENS)
                  .build())
          .start();

  @AfterEach
  void stop() {
    engine.close();
  }

  @Test
  void openAi_streamsThroughVertx() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(engine))) {
      assertThat(askOpenAi(gateway.url())).isEqualTo(expectedText());
      assertSpan();
    }
  }

  @Test
  void openAi_streamsThroughNetty() throws Exception {
    try (NettyRelay gateway = new NettyRelay(GatewayTracing.create(telemetry), engine.port())) {
      assertThat(askOpenAi(gateway.url())).isEqualTo(expectedText());
      assertSpan();
    }
  }

  @Test
  void langChain4j_streamsThroughVertx() throws Exception {
    try (RunningGateway gateway = RunningGateway.start(telemetry, List.of(engine))) {
      assertThat(askLangChain4j(gateway.url())).isEqualTo(expectedText());
      assertSpan();
    }
  }

  @Test
  void langChain4j_streamsThroughNetty() throws Exception {
    try (NettyRelay gateway = new NettyRelay(GatewayTracing.create(telemetry), engine.port())) {
      assertThat(askLangChain4j(gateway.url())).isEqualTo(expectedText());
      assertSpan();
    }
  }

  /** Returns the text of the engine's response. */
  private static String expectedText() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < TOKENS; i++) {
      text.append("tok").append(i).append(' ');
    }
    return text.toString().strip();
  }

  private static String askOpenAi(String url) {
    OpenAIClient client =
        OpenAIOkHttpClient.builder().apiKey("none").baseUrl(url + "/v1").maxRetries(0).build();
    ChatCompletionCreateParams question =
        ChatCompletionCreateParams.builder()
            .model("tiny")
            .addUserMessage("one two three")
            .maxCompletionTokens(64)
            .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
            .build();
    try (StreamResponse<ChatCompletionChunk> answer =
        client.chat().completions().createStreaming(question)) {
      return answer.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .flatMap(choice -> choice.delta().content().stream())
          .collect(Collectors.joining())
          .strip();
    } finally {
      client.close();
    }
  }

  private static String askLangChain4j(String url) throws Exception {
    CompletableFuture<String> response = new CompletableFuture<>();
    OpenAiStreamingChatModel.builder()
        .apiKey("none")
        .baseUrl(url + "/v1")
        .modelName("tiny")
        .maxCompletionTokens(64)
        .build()
        .chat(
            "one two three",
            new StreamingChatResponseHandler() {
              @Override
              public void onPartialResponse(String token) {}

              @Override
              public void onCompleteResponse(ChatResponse answer) {
                response.complete(answer.aiMessage().text());
              }

              @Override
              public void onError(Throwable error) {
                response.completeExceptionally(error);
              }
            });
    return response.get(SOON.toSeconds(), TimeUnit.SECONDS).strip();
  }

  private void assertSpan() throws InterruptedException {
    SpanRecord span = requestSpan();
    assertThat(span.attributes())
        .containsEntry("gen_ai.request.model", "tiny")
        .containsEntry("gen_ai.response.model", "tiny")
        .containsEntry("gen_ai.request.stream", true)
        .containsEntry("gen_ai.request.max_tokens", 64L)
        .containsEntry("gen_ai.usage.prompt_tokens", 3L)
        .containsEntry("gen_ai.usage.completion_tokens", (long) TOKENS)
        .containsEntry("gen_ai.response.finish_reasons", List.of("stop"))
        .containsEntry("inferspan.response.tokens", (long) TOKENS)
        .containsEntry("inferspan.response.complete", true)
        .containsEntry("http.response.status_code", 200L)
        .doesNotContainKey("error.type");
    Object firstToken = span.attribute("inferspan.response.first_token_ms");
    assertThat(firstToken).isNotNull();
    assertThat(((Number) Objects.requireNonNull(firstToken)).doubleValue())
        .isBetween((double) PREFILL_MILLIS, (span.endEpochNanos() - span.startEpochNanos()) / 1e6);
    assertThat(engine.requests())
        .singleElement()
        .satisfies(
            request ->
                assertThat(request.headers("traceparent"))
                    .singleElement()
                    .asString()
                    .contains(span.traceId() + "-" + span.spanId()));
  }

  private SpanRecord requestSpan() throws InterruptedException {
    long end = System.nanoTime() + SOON.toNanos();
    while (true) {
      for (SpanRecord span : tracing.spans()) {
        if (span.name().equals("gateway.request")) {
          return span;
        }
      }
      assertThat(System.nanoTime()).as("the request's span has ended").isLessThan(end);
      Thread.sleep(2);
    }
  }
}
