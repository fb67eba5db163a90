package io.inferspan.response;

import static io.inferspan.response.Bodies.SSE;
import static io.inferspan.response.Seen.buffer;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The gaps between tokens of a response with several choices. */
final class ChoiceGapsTest {

  private static String token(int index, String text) {
    return Bodies.chatChoice("\"index\":%d,\"delta\":{\"content\":\"%s\"}".formatted(index, text));
  }

  private static void assertGaps(ResponseTap tap, long nanos) {
    assertThat(tap.gapNanos(0.5)).isCloseTo(nanos, within(nanos / 20));
    assertThat(tap.maxGapNanos()).isCloseTo(nanos, within(nanos / 20));
  }

  @Test
  void alternatingChoices_haveSeparateGaps() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    for (int step = 0; step < 20; step++) {
      for (int index = 0; index < 3; index++) {
        long nanos = MILLISECONDS.toNanos(30L * step) + MICROSECONDS.toNanos(870L * index);
        tap.see(buffer(token(index, "a")), nanos);
      }
    }
    assertGaps(tap, MILLISECONDS.toNanos(30));
    assertThat(tap.tokens()).isEqualTo(60);
    assertThat(tap.choices()).isEqualTo(3);
  }

  @Test
  void runsOfOneChoice_haveSeparateGaps() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    for (int step = 0; step < 6; step++) {
      // The events of a run match the template and are not parsed again.
      for (int index :
          step % 2 == 0 ? new int[] {0, 0, 0, 1, 1, 1} : new int[] {1, 1, 1, 0, 0, 0}) {
        tap.see(buffer(token(index, "word" + step)), 0);
      }
    }
    assertThat(tap.maxGapNanos()).isZero();
    tap.see(buffer(token(1, "late")), 100);
    tap.see(buffer(token(0, "later")), 300);
    assertThat(tap.maxGapNanos()).isEqualTo(300);
  }

  @Test
  void choicesInOneEvent_haveSeparateGaps() {
    String both =
        Bodies.data("{\"choices\":[{\"index\":1,\"text\":\"a\"},{\"text\":\"b\",\"index\":0}]}");
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.see(buffer(both), 0);
    tap.see(buffer(both), 40);
    tap.see(buffer("data: {\"choices\":[{\"index\":1,\"text\":\"a\"}]}\n\n"), 60);
    tap.see(buffer("data: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n\n"), 130);
    assertThat(tap.maxGapNanos()).isEqualTo(90);
    assertThat(tap.tokens()).isEqualTo(4);
    assertThat(tap.choices()).isEqualTo(2);
  }

  @Test
  void choicesAboveTheLimit_haveNoGaps() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.see(buffer(token(15, "a") + token(16, "a") + token(999_999, "a")), 5);
    assertThat(tap.maxGapNanos()).isEqualTo(-1);
  }

  @Test
  void tokensOfAnIncompleteStream_areCounted() {
    ResponseTap tap = ResponseTap.forContentType(SSE);
    tap.see(buffer(token(0, "a") + token(0, "b")), 5);
    tap.end(6);
    assertThat(tap.generatedTokens()).isEqualTo(2);
    assertThat(tap.completionTokens()).isEqualTo(-1);
    assertThat(tap.promptTokens()).isEqualTo(-1);
  }
}
