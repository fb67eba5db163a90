package io.inferspan.response;

import static io.inferspan.response.Bodies.JSON;
import static io.inferspan.response.Bodies.SSE;
import static io.inferspan.response.Bodies.chatDelta;
import static io.inferspan.response.Bodies.data;
import static io.inferspan.response.Seen.buffer;
import static io.inferspan.response.Seen.whole;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseTapTest {

  @Test
  void chatStream_hasTokensUsageAndEnd() {
    ResponseTap tap = whole(SSE, Bodies.chat());

    assertThat(tap.tokens()).isEqualTo(3);
    assertUsage(tap, 31, 3, 16, 2);
    assertThat(tap.finishReasons()).containsExactly("stop");
    assertThat(tap.model()).isEqualTo("meta-llama/Llama-3.3-70B-Instruct");
    assertThat(tap.complete()).isTrue();
    assertThat(tap.failed()).isFalse();
  }

  @Test
  void chatStream_countsReasoningAndPartsOfToolCalls() {
    ResponseTap tap = whole(SSE, Bodies.chatTools());

    assertThat(tap.tokens()).isEqualTo(3);
    assertThat(tap.finishReasons()).containsExactly("tool_calls");
    assertUsage(tap, -1, -1, -1, -1);
  }

  @Test
  void chatStream_countsContentInParts() {
    String thinking = "{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"%s\"}]}";
    ResponseTap tap =
        whole(
            SSE,
            chatDelta("{\"content\":[" + thinking.formatted("hm") + "]}")
                + chatDelta("{\"content\":[" + thinking.formatted("") + "]}")
                + chatDelta("{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}")
                + chatDelta("{\"content\":[]}")
                + chatDelta("{\"content\":\"b\"}"));

    assertThat(tap.tokens()).isEqualTo(3);
  }

  @Test
  void finishReasons_areInTheOrderOfTheChoices() {
    ResponseTap tap = whole(SSE, Bodies.chatTwoChoices());

    assertThat(tap.finishReasons()).containsExactly("stop", "length");
    assertThat(tap.tokens()).isEqualTo(3);
  }

  @Test
  void completionsStream_hasTokensUsageAndEnd() {
    ResponseTap tap = whole(SSE, Bodies.completions());

    assertThat(tap.tokens()).isEqualTo(3);
    assertUsage(tap, 5, 3, -1, -1);
    assertThat(tap.finishReasons()).containsExactly("length");
    assertThat(tap.complete()).isTrue();
  }

  @Test
  void responsesStream_hasTokensUsageAndEnd() {
    ResponseTap tap = whole(SSE, Bodies.responses());

    assertThat(tap.tokens()).isEqualTo(3);
    assertUsage(tap, 20, 7, 4, 3);
    assertThat(tap.finishReasons()).containsExactly("completed");
    assertThat(tap.model()).isEqualTo("o4");
    assertThat(tap.complete()).isTrue();
    assertThat(tap.failed()).isFalse();
  }

  @Test
  void messagesStream_hasTokensUsageAndEnd() {
    ResponseTap tap = whole(SSE, Bodies.messages());

    assertThat(tap.tokens()).isEqualTo(3);
    assertUsage(tap, 42, 12, 30, -1);
    assertThat(tap.finishReasons()).containsExactly("end_turn");
    assertThat(tap.model()).isEqualTo("claude");
    assertThat(tap.complete()).isTrue();
  }

  @Test
  void generateStream_countsTokenIds() {
    ResponseTap tap = whole(SSE, Bodies.generate());

    assertThat(tap.tokens()).isEqualTo(2);
    assertThat(tap.finishReasons()).containsExactly("stop");
    assertThat(tap.complete()).isTrue();
  }

  @Test
  void documents_haveUsageReasonsAndModel_butNoTokenTimes() {
    ResponseTap chat = whole(JSON, Bodies.chatWhole());
    assertUsage(chat, 12, 40, -1, 6);
    assertThat(chat.finishReasons()).containsExactly("stop", "length");
    assertThat(chat.model()).isEqualTo("qwen/3");
    assertThat(chat.complete()).isTrue();
    assertThat(chat.hasFirstToken()).isFalse();

    ResponseTap responses = whole(JSON, Bodies.responsesWhole());
    assertUsage(responses, 8, 64, -1, -1);
    assertThat(responses.finishReasons()).containsExactly("max_output_tokens");
    assertThat(responses.failed()).isFalse();

    ResponseTap messages = whole(JSON, Bodies.messagesWhole());
    assertUsage(messages, 3, 5, -1, -1);
    assertThat(messages.finishReasons()).containsExactly("max_tokens");
  }

  private static void assertUsage(
      ResponseTap tap, long prompt, long completion, long cached, long reasoning) {
    assertThat(tap.promptTokens()).isEqualTo(prompt);
    assertThat(tap.completionTokens()).isEqualTo(completion);
    assertThat(tap.cachedTokens()).isEqualTo(cached);
    assertThat(tap.reasoningTokens()).isEqualTo(reasoning);
  }

  @Test
  void firstToken_isTheFirstContent_notTheFirstByte() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.see(buffer(": hello\n\n"), 10);
    tap.see(buffer(chatDelta("{\"role\":\"assistant\",\"content\":\"\"}")), 20);
    assertThat(tap.hasFirstToken()).isFalse();

    tap.see(buffer(chatDelta("{\"content\":\"a\"}")), 30);
    tap.see(buffer(": ping\n\n"), 40);
    tap.see(buffer(chatDelta("{\"content\":\"b\"}")), 50);
    tap.see(buffer("data: [DONE]\n\n"), 60);
    tap.end(70);

    assertThat(tap.hasFirstToken()).isTrue();
    assertThat(tap.firstTokenNanos()).isEqualTo(30);
    assertThat(tap.lastTokenNanos()).isEqualTo(50);
    assertThat(tap.maxGapNanos()).isEqualTo(20);
    assertThat(tap.endNanos()).isEqualTo(70);
  }

  @Test
  void firstToken_hasTheTimeOfThePieceInWhichItsContentBegins() {
    String event = chatDelta("{\"content\":\"abc\"}");
    int content = event.indexOf("abc");
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.see(buffer(event.substring(0, content)), 10);
    tap.see(buffer(event.substring(content, content + 1)), 20);
    assertThat(tap.hasFirstToken()).isFalse();
    tap.see(buffer(event.substring(content + 1)), 30);

    assertThat(tap.firstTokenNanos()).isEqualTo(20);
  }

  @Test
  void truncatedEvent_isNotAToken() {
    ResponseTap tap = whole(SSE, "data: {\"choices\":[{\"delta\":{\"content\":\"a\n\n");
    tap.see(buffer(chatDelta("{\"role\":\"assistant\"}")), 8);

    assertThat(tap.tokens()).isZero();
    assertThat(tap.complete()).isFalse();
  }

  @Test
  void truncatedStream_isNotComplete() {
    for (String body :
        new String[] {Bodies.chat(), Bodies.responses(), Bodies.messages(), Bodies.generate()}) {
      int lastEvent = body.lastIndexOf("\n\n", body.length() - 3) + 2;

      assertThat(whole(SSE, body.substring(0, lastEvent)).complete()).isFalse();
    }
    assertThat(whole(JSON, Bodies.chatWhole().strip().replaceAll("}$", "")).complete()).isFalse();
  }

  @Test
  void streamThatIsCutOff_hasTheTokensSoFar_thoughUsageBegan() {
    String messages = Bodies.messages();
    ResponseTap cut = whole(SSE, messages.substring(0, messages.indexOf("event: message_delta")));

    assertThat(cut.completionTokens()).isEqualTo(1);
    assertThat(cut.generatedTokens()).isEqualTo(3);
    assertThat(whole(SSE, messages).generatedTokens()).isEqualTo(12);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void usageInEveryEvent_isTheCountOfAStreamThatIsCutOff(boolean usageFirst) {
    String choices = "\"choices\":[{\"delta\":{\"content\":\"a\"}}]";
    String usage = "\"usage\":{\"completion_tokens\":%d}";
    String token = data("{" + (usageFirst ? usage + "," + choices : choices + "," + usage) + "}");
    ResponseTap cut = whole(SSE, token.formatted(1) + token.formatted(1) + token.formatted(2));

    assertThat(cut.tokens()).isEqualTo(3);
    assertThat(cut.generatedTokens()).isEqualTo(2);
  }

  static Stream<Arguments> errors() {
    return Stream.of(
        Arguments.of(SSE, Bodies.Errors.IN_CHAT, "BadRequestError"),
        Arguments.of(SSE, Bodies.Errors.IN_MESSAGES, "overloaded_error"),
        Arguments.of(SSE, Bodies.Errors.IN_RESPONSES, "server_error"),
        Arguments.of(SSE, data(Bodies.Errors.FLAT), "NotFoundError"),
        Arguments.of(SSE, data("{\"error\":{\"code\":503}}"), "503"),
        Arguments.of(SSE, data("{\"error\":{\"type\":\"a secret sentence\"}}"), "other"),
        Arguments.of(SSE, data("{\"error\":{\"type\":\"" + "x".repeat(65) + "\"}}"), "other"),
        Arguments.of(
            SSE, data("{\"error\":{\"type\":null,\"code\":\"server_error\"}}"), "server_error"),
        Arguments.of(SSE, data("{\"error\":{\"type\":\"a-customers-name\"}}"), "other"),
        Arguments.of(SSE, data("{\"error\":\"secret\"}"), null),
        Arguments.of(
            SSE,
            Bodies.event(
                "response.failed",
                "\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\"}}"),
            "rate_limit_exceeded"),
        Arguments.of(JSON, Bodies.Errors.WHOLE, "BadRequestError"),
        Arguments.of(JSON, Bodies.Errors.FLAT, "NotFoundError"));
  }

  @ParameterizedTest
  @MethodSource("errors")
  void errors_areReportedByTypeWithoutMessage(String contentType, String body, String type) {
    ResponseTap tap = whole(contentType, body);

    assertThat(tap.failed()).isTrue();
    assertThat(tap.errorType()).isEqualTo(type);
  }

  @Test
  void decoys_areNotUsage() {
    String decoys =
        "{\"usage\":{\"prompt_tokens\":1},\"model\":\"x\",\"error\":{\"type\":\"x\"},"
            + "\"finish_reason\":\"x\",\"content\":\"x\",\"choices\":[{\"finish_reason\":\"x\"}]}";
    ResponseTap tap =
        whole(
            SSE,
            data("{\"output\":" + decoys + ",\"x\":[" + decoys + "]}")
                + data("{\"choices\":[{\"x\":" + decoys + ",\"message\":" + decoys + "}]}")
                + data("{\"choices\":[{\"delta\":{\"x\":" + decoys + "}}]}")
                + data("[" + decoys + "]")
                + data("{\"choices\":" + decoys + ",\"usage\":[{\"prompt_tokens\":1}]}")
                + data("{\"usage\":{\"x\":{\"prompt_tokens\":1},\"prompt_tokens\":\"1\"}}"));

    assertThat(Seen.of(tap)).isEqualTo(Seen.of(ResponseTap.forContentType(SSE)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-1",
        "1.5",
        "1e3",
        "null",
        "true",
        "[1]",
        "\"1\"",
        "",
        "nan",
        "-11111111111111111111"
      })
  void invalidCounts_areNotReported(String count) {
    ResponseTap tap = whole(JSON, "{\"usage\":{\"prompt_tokens\":" + count + "}}");

    assertThat(tap.promptTokens()).isEqualTo(-1);
  }

  @Test
  void countsAboveALong_areIgnored() {
    for (int digits : new int[] {18, 19, 26, 400}) {
      ResponseTap tap = whole(JSON, "{\"usage\":{\"prompt_tokens\":" + "9".repeat(digits) + "}}");

      assertThat(tap.promptTokens()).isEqualTo(-1);
    }
  }

  @Test
  void unknownFinishReason_isOther() {
    ResponseTap tap =
        whole(JSON, "{\"choices\":[{\"index\":0,\"finish_reason\":\"a-customers-name\"}]}");

    assertThat(tap.finishReasons()).containsExactly("other");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/event-stream", "Text/Event-Stream;x=y", "application/JSON "})
  void contentTypesOfEngines_areObserved(String contentType) {
    assertThat(ResponseTap.forContentType(contentType).isSeeing()).isTrue();
  }

  @Test
  void otherBodies_areNotObserved() {
    assertThat(ResponseTap.forContentType(null).isSeeing()).isFalse();
    assertThat(ResponseTap.forContentType("text/html").isSeeing()).isFalse();
    assertThat(ResponseTap.forHeaders(SSE, "br").isSeeing()).isFalse();
    assertThat(ResponseTap.forHeaders(SSE, "Identity").isSeeing()).isTrue();
    assertThat(ResponseTap.forHeaders(SSE, null).isSeeing()).isTrue();
    ResponseTap blind = ResponseTap.blind();
    blind.see(buffer(Bodies.chat()), 1);
    assertThat(Seen.of(blind)).isEqualTo(Seen.of(ResponseTap.forContentType(SSE)));
  }

  @Test
  void bytesAfterTheEnd_areIgnored() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.end(1);
    tap.see(buffer(Bodies.chat()), 2);

    assertThat(tap.tokens()).isZero();
  }

  @Test
  void buffersOfAnyKind_giveTheSameFacts_andAreNotChanged() {
    byte[] body = Bodies.chat().getBytes(StandardCharsets.UTF_8);
    for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
      for (boolean direct : new boolean[] {true, false}) {
        int size = body.length + 20;
        ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
        bytes.position(9).put(body).flip().position(9).order(order);
        for (ByteBuffer seen : new ByteBuffer[] {bytes, bytes.asReadOnlyBuffer(), bytes.slice()}) {
          int position = seen.position();
          int limit = seen.limit();
          ResponseTap tap = ResponseTap.forContentType(SSE);
          tap.see(seen, 7);

          assertThat(Seen.of(tap)).isEqualTo(Seen.of(whole(SSE, Bodies.chat())));
          assertThat(seen.position()).isEqualTo(position);
          assertThat(seen.limit()).isEqualTo(limit);
        }
      }
    }
  }

  @Test
  void lineOfTenMegabytes_isReadToItsEnd() {
    String long10 = "x\\\"{".repeat(10 << 18);
    ResponseTap tap =
        whole(
            SSE,
            chatDelta("{\"content\":\"" + long10 + "\"}")
                + data("{\"" + long10 + "\":1,\"model\":\"" + long10 + "\"}")
                + ":"
                + long10
                + "\n\n"
                + Bodies.chat());

    assertThat(tap.tokens()).isEqualTo(4);
    assertThat(tap.complete()).isTrue();
  }
}
