package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SseLinesTest {

  @Test
  void events_endWithABlankLine() {
    ByteBuf stream = stream("\n: c\ndata: 1\n\ndata: 2\r\n\r\n\ndata: 3\n");
    assertThat(SseLines.endOfEvents(stream, 1)).isEqualTo("\n: c\ndata: 1\n\n".length());
    assertThat(SseLines.endOfEvents(stream, 2))
        .isEqualTo("\n: c\ndata: 1\n\ndata: 2\r\n\r\n".length());
    assertThat(SseLines.endOfEvents(stream, 3)).isEqualTo(-1);
    assertThat(SseLines.endOfEvents(stream(""), 1)).isEqualTo(-1);
  }

  @Test
  void objectsInDataLines_areVisited() {
    ByteBuf stream =
        stream(
            """
            data: {"choices":[{"finish_reason":null}]}

            event: x
            data: no

            data: [DONE]
            : {"choices":[]}
            data:{"choices":[{"finish_reason":"cache_threshold"}]}\
            """);
    List<Boolean> missed = new ArrayList<>();
    SseLines.forEachData(
        stream,
        data -> {
          JsonValue reason = data.at("choices", "0", "finish_reason");
          missed.add(reason != null && reason.isText("cache_threshold"));
        });
    assertThat(missed).containsExactly(false, true);
  }

  private static ByteBuf stream(String text) {
    return Unpooled.copiedBuffer(text, UTF_8);
  }
}
