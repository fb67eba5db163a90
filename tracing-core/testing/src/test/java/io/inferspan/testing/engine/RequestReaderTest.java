package io.inferspan.testing.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.engine.EngineRequest.Role;
import io.inferspan.testing.engine.RequestReader.Call;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RequestReaderTest {
  private static final String FULL =
      """
      {"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a b"},
       {"type":"image_url","image_url":{"url":"not counted at all"}}]},
       {"role":"assistant","content":"c","tool_calls":[{"name":"no words"}]}],
       "stream":true,"stream_options":{"include_usage":true,"other":[1]},"max_tokens":50,
       "max_completion_tokens":7,"min_tokens":7,"temperature":0.5,"top_p":1,"n":3,"seed":null,
       "tools":[{"type":"function","function":{"name":"messages","text":"no no"}}],
       "kv_transfer_params":{"do_remote_decode":true,"remote_block_ids":[1,[2]]}}""";

  @Test
  void relevantFields_areRead() {
    Call call = read(FULL);

    assertThat(call.rejection()).isNull();
    assertThat(call.model()).isEqualTo("m");
    assertThat(call.promptTokens()).isEqualTo(3);
    assertThat(call.stream()).isTrue();
    assertThat(call.includeUsage()).isTrue();
    assertThat(call.limits().maxTokens()).isEqualTo(7);
    assertThat(call.sampling()).isEqualTo(new RequestReader.Sampling(1, 0.5, 3));
    assertThat(call.role()).isEqualTo(Role.PREFILL);
    assertThat(call.kvTransferParams())
        .isEqualTo("{\"do_remote_decode\":true,\"remote_block_ids\":[1,[2]]}");
  }

  @Test
  void roles_followFromTheParamsOfEachConnector() {
    assertThat(roleOf("{\"do_remote_decode\":true,\"do_remote_prefill\":false}"))
        .isEqualTo(Role.PREFILL);
    assertThat(roleOf("{\"do_remote_decode\":false,\"do_remote_prefill\":true}"))
        .isEqualTo(Role.DECODE);
    assertThat(roleOf("{\"remote_decoder\":{\"kv_request_id\":\"a\"}}")).isEqualTo(Role.PREFILL);
    assertThat(roleOf("{\"remote_prefiller\":{\"kv_request_id\":\"a\"}}")).isEqualTo(Role.DECODE);
    assertThat(roleOf("{\"remote_kv_source\":{\"do_remote_decode\":true}}")).isEqualTo(Role.WHOLE);
    assertThat(roleOf("null")).isEqualTo(Role.WHOLE);
  }

  @Test
  void transferParamsOfAnyForm_areReadVerbatim() {
    for (String params : new String[] {"null", "true", "12", "\"te\\u0078t\"", "[ 1 ]", "{ }"}) {
      assertThat(read("{\"kv_transfer_params\":" + params + ",\"n\":1}").kvTransferParams())
          .isEqualTo(params);
    }
    assertThat(read("{}").kvTransferParams()).isNull();
  }

  @Test
  void fieldsOfTheWrongType_countAsAbsent() {
    Call call =
        read(
            """
            {"model":{"a":1},"stream":"no","max_tokens":[1],"n":"x","temperature":{},"top_p":null,
             "sampling_params":[{"n":9}],"stream_options":7,"messages":null,"prompt":{"a":"b c"}}""");

    assertThat(call.rejection()).isNull();
    assertThat(call.model()).isNull();
    assertThat(call.promptTokens()).isZero();
    assertThat(call.limits().maxTokens()).isNull();
    assertThat(call.sampling()).isEqualTo(new RequestReader.Sampling(1, 1, 1));
  }

  @Test
  void anyBytes_areReadWithoutAnException() {
    byte[] full = FULL.getBytes(StandardCharsets.UTF_8);
    Random random = new Random(42);
    for (int length = 0; length < full.length; length++) {
      assertThat(RequestReader.read(Arrays.copyOf(full, length)).rejection()).isNotNull();
    }
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = full.clone();
      for (int i = 0; i <= random.nextInt(4); i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      assertThat(RequestReader.read(bytes)).isNotNull();
    }
  }

  @Test
  void deepNesting_isRejected() {
    String deep = "{\"prompt\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";

    assertThat(read(deep).rejection()).startsWith("invalid JSON");
  }

  private static Call read(String body) {
    return RequestReader.read(body.getBytes(StandardCharsets.UTF_8));
  }

  private static Role roleOf(String params) {
    return read("{\"kv_transfer_params\":" + params + "}").role();
  }
}
