package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.Arrays;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests with mutated bodies that those are accepted that Jackson and a strict UTF-8 decoder accept,
 * and no others.
 */
class JsonFuzzTest {
  private static final long SEED = 7;
  private static final Pattern MESSAGE = Pattern.compile("[a-zA-Z0-9 -]+");
  private static final byte[] MARKS =
      "{}[]\",:\\/-+.eE0123456789truefalsn \t\n\r\u0000\u001f\u0080\u00c0\u00e0\u00ed\u00f4\u00ff"
          .getBytes(ISO_8859_1);

  @Test
  void mutatedBodies_areAcceptedExactlyIfTheyAreJsonObjects() {
    Random random = new Random(SEED);
    int taken = 0;
    for (int seed = 0; seed < 3_000; seed++) {
      byte[] original = new RandomJson(seed, 3).object().getBytes(UTF_8);
      for (int i = 0; i < 100; i++) {
        byte[] mutant = mutate(original, random);
        boolean isAccepted = isAccepted(mutant);
        // Jackson is slow to reject, so only a quarter of the rejected mutants is checked.
        if ((isAccepted || i % 4 == 0) && JsonOracle.isObject(mutant) != isAccepted) {
          fail("should %sbe accepted: %s", isAccepted ? "not " : "", new String(mutant, UTF_8));
        }
        taken += isAccepted ? 1 : 0;
      }
    }
    assertThat(taken).isBetween(10_000, 290_000);
  }

  /** Accepts, reads and edits the body, and checks that the result is valid too. */
  private static boolean isAccepted(byte[] body) {
    JsonObject object;
    try {
      object = JsonObject.scan(body, JsonOracle.MAX_DEPTH);
    } catch (InvalidJson e) {
      if (!MESSAGE.matcher(e.getMessage()).matches()) {
        fail("the message quotes the body", e);
      }
      return false;
    }
    JsonEdit edit = object.edit().remove("stream").set("max_tokens", 1);
    edit.within("sampling_params").remove("max_tokens").set("min_tokens", false);
    object.at("messages", "0", "content", "usage");
    byte[] result = edit.toBytes();
    try {
      JsonObject.scan(result, JsonOracle.MAX_DEPTH);
    } catch (InvalidJson e) {
      fail("an edit broke " + new String(body, UTF_8), e);
    }
    return true;
  }

  private static byte[] mutate(byte[] original, Random random) {
    byte[] json = original.clone();
    for (int times = random.nextInt(3); times >= 0; times--) {
      if (json.length == 0) {
        return json;
      }
      int at = random.nextInt(json.length);
      byte mark = MARKS[random.nextInt(MARKS.length)];
      json =
          switch (random.nextInt(6)) {
            case 0 -> Arrays.copyOf(json, at);
            case 1 -> splice(json, at, at + 1);
            case 2 -> splice(json, at, at, mark);
            case 3 -> splice(json, at, at + 1, mark);
            case 4 -> splice(json, at, at + 1, (byte) random.nextInt(256));
            default -> splice(json, at, at, Arrays.copyOfRange(json, at / 2, at));
          };
    }
    return json;
  }

  private static byte[] splice(byte[] json, int from, int to, byte... between) {
    byte[] result = Arrays.copyOf(json, from + between.length + json.length - to);
    System.arraycopy(between, 0, result, from, between.length);
    System.arraycopy(json, to, result, from + between.length, json.length - to);
    return result;
  }
}
