package io.inferspan.response;

import static io.inferspan.response.Bodies.SSE;
import static io.inferspan.response.Bodies.data;
import static io.inferspan.response.Seen.whole;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventStreamTest {

  private static final String TOKEN = data("{\"choices\":[{\"text\":\"a\"}]}");

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void linesWithAnyLineEnd_giveTheSameFacts(String end) {
    Seen chat = Seen.of(whole(SSE, Bodies.chat()));

    assertThat(Seen.of(whole(SSE, Bodies.chat().replace("\n", end)))).isEqualTo(chat);
    assertThat(Seen.of(whole(SSE, Bodies.overLines().replace("\n", end)))).isEqualTo(chat);
  }

  @Test
  void byteOrderMarkAndMissingSpace_areAccepted() {
    assertThat(whole(SSE, "\uFEFF" + TOKEN).tokens()).isEqualTo(1);
    assertThat(whole(SSE, TOKEN.replace(": ", ":")).tokens()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"datum", "dat", "data2", "xdata", " data", "evendata"})
  void otherFields_areNotData(String field) {
    assertThat(whole(SSE, TOKEN.replace("data", field)).tokens()).isZero();
  }

  @Test
  void eventName_isComparedAsAWhole() {
    assertThat(whole(SSE, "event: error\n\n").failed()).isTrue();
    assertThat(whole(SSE, "event: errors\n\nevent: error\"x\n\n").failed()).isFalse();
  }

  @Test
  void errorObject_appliesOnlyToItsEvent() {
    String end = data("{\"object\":\"x\",\"type\":\"message_stop\"}");

    assertThat(whole(SSE, data(Bodies.Errors.FLAT) + end).complete()).isTrue();
  }
}
