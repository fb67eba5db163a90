package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonObjectTest {

  @Test
  void escapedKeys_areRecognised() throws InvalidJson {
    assertThat(scan("{\"stre\\u0061m\":true}").value("stream"))
        .matches(value -> value != null && value.isTrue());
  }

  @Test
  void lastOfDuplicateKeys_counts() throws InvalidJson {
    assertThat(number(scan("{\"max_tokens\":1,\"x\":0,\"max_tokens\":2}").value("max_tokens")))
        .isEqualTo(2);
  }

  @Test
  void values_areReadByPath() throws InvalidJson {
    JsonObject answer =
        scan(
            """
            {"choices":[{"message":{"content":"h\\u00e9 \\ud83d\\ude00"},"finish_reason":"length"}],
             "usage":{"prompt_tokens":5,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":4}},
             "kv_transfer_params":{"remote_block_ids":[1, 2]}}
            """);
    assertThat(text(answer.at("choices", "0", "finish_reason"))).isEqualTo("length");
    assertThat(text(answer.at("choices", "0", "message", "content"))).isEqualTo("hé 😀");
    assertThat(number(answer.at("usage", "total_tokens"))).isEqualTo(7);
    assertThat(number(answer.at("kv_transfer_params", "remote_block_ids", "1"))).isEqualTo(2);
    assertThat(answer.at("kv_transfer_params")).isNotNull();
  }

  @Test
  void missingPaths_areNull() throws InvalidJson {
    JsonObject answer = scan("{\"choices\":[],\"usage\":null,\"stream\":[[1]]}");
    assertThat(answer.at("choices", "0", "finish_reason")).isNull();
    assertThat(answer.at("choices", "finish_reason")).isNull();
    assertThat(answer.at("usage", "total_tokens")).isNull();
    assertThat(answer.at("max_tokens")).isNull();
    assertThat(answer.at("stream", "1")).isNull();
  }

  @Test
  void integers_areRead_otherNumbersAreNot() throws InvalidJson {
    assertThat(number("50")).isEqualTo(50);
    assertThat(number("50.0")).isEqualTo(50);
    assertThat(number("5e1")).isEqualTo(50);
    assertThat(number("-0")).isZero();
    assertThat(number("9223372036854775807")).isEqualTo(Long.MAX_VALUE);
    for (String other :
        new String[] {"1.5", "1e99999999", "9223372036854775808", "\"5\"", "null"}) {
      assertThat(number(other)).as(other).isEqualTo(-7);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{}x",
        "{}{}",
        "[]",
        "1",
        "null",
        "\"a\"",
        "{\"a\":1,}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":NaN}",
        "{\"a\":tru}",
        "{\"a\":nulll}",
        "{\"a\":[1,]}",
        "{\"a\":[1}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"",
        "{\"a\":\"\\\"}",
        "\uFEFF{}",
        "{}\uFEFF",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1}//",
        "{\u00a0}",
        "{\"a\":0x1}"
      })
  void bytesThatAreNotAJsonObject_areRejected_withoutQuotingThem(String json) {
    assertThatThrownBy(() -> scan(json))
        .isInstanceOf(InvalidJson.class)
        .hasMessageMatching("[a-zA-Z0-9 -]+");
  }

  @Test
  void bytesThatAreNotUtf8_areRejected() {
    for (String bytes :
        new String[] {
          "\u0080",
          "\u00c0\u00af",
          "\u00c3",
          "\u00e0\u0080\u00af",
          "\u00ed\u00a0\u0080",
          "\u00f0\u0080\u0080\u0080",
          "\u00f4\u0090\u0080\u0080",
          "\u00f8\u0088\u0080\u0080\u0080",
          "\u00ff"
        }) {
      byte[] json = ("{\"a\":\"" + bytes + "\"}").getBytes(StandardCharsets.ISO_8859_1);
      assertThatThrownBy(() -> JsonObject.scan(json, 9)).isInstanceOf(InvalidJson.class);
    }
  }

  @Test
  void utf16_isRejected() {
    byte[] json = "{\"a\":1}".getBytes(StandardCharsets.UTF_16LE);
    assertThatThrownBy(() -> JsonObject.scan(json, 9)).isInstanceOf(InvalidJson.class);
  }

  @Test
  void loneSurrogate_isAccepted() throws InvalidJson {
    JsonObject object = scan("{\"\\ud800\":\"\\udc00\"}");
    assertThat(object.edit().set("stream", true).toBytes())
        .asString(UTF_8)
        .isEqualTo("{\"\\ud800\":\"\\udc00\",\"stream\":true}");
  }

  @Test
  void nesting_isLimitedOnlyByTheCaller() throws InvalidJson {
    byte[] deep = ("{\"a\":" + "[".repeat(99) + "]".repeat(99) + "}").getBytes(UTF_8);
    assertThat(JsonObject.scan(deep, 100).members()).hasSize(1);
    assertThatThrownBy(() -> JsonObject.scan(deep, 99)).hasMessage("nested deeper than 99 levels");
    byte[] abyss = ("{\"a\":" + "[".repeat(1_000_000)).getBytes(UTF_8);
    assertThatThrownBy(() -> JsonObject.scan(abyss, Integer.MAX_VALUE))
        .isInstanceOf(InvalidJson.class);
  }

  @Test
  void partOfTheBytes_canBeScanned() throws InvalidJson {
    byte[] line = "data: {\"stream\":true}\r\n\"".getBytes(UTF_8);
    assertThat(JsonObject.scan(line, 5, line.length - 1, 9).has("stream")).isTrue();
    assertThatThrownBy(() -> JsonObject.scan(line, 5, 20, 9)).isInstanceOf(InvalidJson.class);
  }

  @Test
  void tooManyMembers_areRejected() {
    String json = "{\"stream\":1" + ",\"stream\":1".repeat(JsonObject.MAX_MEMBERS) + "}";
    assertThatThrownBy(() -> scan(json)).hasMessage("more than 65536 members");
  }

  private static long number(String json) throws InvalidJson {
    return number(scan("{\"max_tokens\":" + json + "}").value("max_tokens"));
  }

  private static long number(@Nullable JsonValue value) {
    return Objects.requireNonNull(value).longValue(-7);
  }

  private static @Nullable String text(@Nullable JsonValue value) {
    return Objects.requireNonNull(value).text();
  }

  private static JsonObject scan(String json) throws InvalidJson {
    return JsonObject.scan(json.getBytes(UTF_8), 64);
  }
}
