package io.inferspan.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ChatBodyTest {

  private static ChatBody read(String json) {
    return ChatBody.read(json.getBytes(StandardCharsets.UTF_8));
  }

  private static String input(String json) {
    return new String(read(json).input(), StandardCharsets.UTF_8);
  }

  @Test
  void modelStreamAndInput_areFoundInAnyOrder() {
    ChatBody body =
        read(
            """
             { "tools" : [{"model":"wrong","x":"]}"}], "stream" : true,
               "messages": [ {"role":"user","content":"a \\"quoted\\" }"} ] , "model" : "tiny" }
            """);
    assertThat(body.model()).isEqualTo("tiny");
    assertThat(body.streaming()).isTrue();
    assertThat(new String(body.input(), StandardCharsets.UTF_8))
        .isEqualTo("[ {\"role\":\"user\",\"content\":\"a \\\"quoted\\\" }\"} ]");
  }

  @Test
  void promptsAndInputs_areInputToo() {
    assertThat(input("{\"prompt\":\"hello\"}")).isEqualTo("\"hello\"");
    assertThat(input("{\"input\":[1,2,3],\"stream\":false}")).isEqualTo("[1,2,3]");
    assertThat(read("{\"input\":[1],\"stream\":false}").streaming()).isFalse();
  }

  @Test
  void escapedModel_isDecoded() {
    assertThat(read("{\"model\":\"org\\/mod\\u00e9l\\n\\\"\"}").model()).isEqualTo("org/modél\n\"");
    assertThat(read("{\"model\":\"é\\\\\"}").model()).isEqualTo("é\\");
    assertThat(read("{\"model\":\"a\\uzzzz\"}").model()).isEqualTo("a\\uzzzz");
  }

  @Test
  void modelThatIsNotAString_isIgnored() {
    assertThat(read("{\"model\":7}").model()).isEmpty();
    assertThat(read("{\"model\":null}").model()).isEmpty();
    assertThat(read("{\"model\":\"" + "x".repeat(2000) + "\"}").model()).isEmpty();
    assertThat(read("[]").model()).isEmpty();
    assertThat(read("").model()).isEmpty();
  }

  @Test
  void mutatedBodies_areNoError() {
    byte[] seed =
        "{\"model\":\"t\\u0041\",\"stream\":true,\"messages\":[{\"a\":\"\\\\\"}],\"n\":1.5}"
            .getBytes(StandardCharsets.UTF_8);
    SplittableRandom random = new SplittableRandom(11);
    for (int round = 0; round < 100_000; round++) {
      byte[] bytes = Arrays.copyOf(seed, random.nextInt(seed.length + 1));
      for (int i = 0; bytes.length > 0 && i < 3; i++) {
        bytes[random.nextInt(bytes.length)] =
            "{}[]\",:\\u0 t".getBytes(StandardCharsets.US_ASCII)[random.nextInt(12)];
      }
      ChatBody body = ChatBody.read(bytes);
      assertThat(body.input()).hasSizeLessThanOrEqualTo(bytes.length);
    }
  }
}
