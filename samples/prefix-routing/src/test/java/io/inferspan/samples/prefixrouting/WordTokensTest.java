package io.inferspan.samples.prefixrouting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WordTokensTest {

  @Test
  void equalWords_areEqualTokens() {
    int[] tokens = of("[{\"role\":\"user\",\"content\":\"to be  or\\nnot to be\"}]");

    assertThat(tokens).hasSize(7);
    assertThat(tokens[1]).isEqualTo(tokens[5]);
    assertThat(tokens[2]).isEqualTo(tokens[6]);
    assertThat(Arrays.stream(tokens)).allMatch(token -> token >= 0);
  }

  @Test
  void escapes_makeNoDifference() {
    assertThat(of("\"caf\\u00e9 \\u0061\"")).isEqualTo(of(" \"caf\u00e9 a\""));
  }

  @Test
  void sharedBeginning_hasTheSameTokens() {
    int[] one = of("\"you know the trains , when is one ?\"");
    int[] other = of("\"you know the trains . Is there another ?\"");

    assertThat(one).startsWith(of("\"you know the trains\""));
    assertThat(other).startsWith(of("\"you know the trains\"")).isNotEqualTo(one);
  }

  @Test
  void invalidJson_hasTheTokensBeforeTheError() {
    assertThat(of("[\"a b\", {\"c\"")).hasSize(2);
    assertThat(of("")).isEmpty();
  }

  @Test
  void randomBytes_areReadWithoutException() {
    long seed = 20_261_121;
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      byte[] input = new byte[random.nextInt(200)];
      random.nextBytes(input);
      if (input.length > 0) {
        input[0] = (byte) (random.nextBoolean() ? '"' : '[');
      }
      assertThatCode(() -> WordTokens.of(input)).as("seed %d", seed).doesNotThrowAnyException();
    }
  }

  private static int[] of(String json) {
    return WordTokens.of(json.getBytes(StandardCharsets.UTF_8));
  }
}
