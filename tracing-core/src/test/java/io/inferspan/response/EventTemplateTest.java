package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An event that matches the template is skipped; parsing it would report the same. */
class EventTemplateTest {

  private static final int STREAMS = 60_000;
  private static final long SEED = 20_260_102;

  private static final List<String> TEXTS =
      List.of(
          "a", " word", "", "\\\"", "\\\\", "x\\n", "}]}", "\\", "a\nb", "Grüß", "long ".repeat(9));

  private static final List<String> FRAMES =
      List.of(
          Bodies.chatDelta("{\"content\":\"%s\"}"),
          Bodies.chatDelta("{\"content\":\"%s\"}"),
          Bodies.chatDelta("{\"content\":\"%s\"}").replace("\n", "\r\n"),
          Bodies.chatDelta("{\"content\":\"%s\",\"reasoning\":\"%s\"}"),
          Bodies.chatDelta("{\"content\":\"%s\",\"reasoning\":\"more\"}"),
          Bodies.chatChoice("\"index\":1,\"delta\":{\"content\":\"%s\"}"),
          Bodies.chatChoice("\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"stop\""),
          Bodies.data("{\"choices\":[{\"text\":\"%s\"}],\"usage\":{\"prompt_tokens\":3}}"),
          Bodies.data("{\"choices\":[{\"text\":\"%s\"}]}").replace("\n\n", "\nid: 1\n\n"),
          Bodies.data("{\"choices\":[{\"text\":\"%s\"}]}{\"choices\":[{\"text\":\"b\"}]}"),
          Bodies.data("{\"choices\":[\ndata: {\"text\":\"%s\"}]}"),
          Bodies.event("text_delta", "\"delta\":{\"text\":\"%s\"}"),
          Bodies.event("error", "\"delta\":\"%s\""),
          Bodies.data("{\"error\":\"%s\"}"),
          ": keep-alive\n\n",
          "data: [DONE]\n\n");

  private final Random random = new Random(SEED);
  private final EventTemplate template = new EventTemplate();

  @Test
  void streamsOfSimilarEvents_reportTheSameAsReadByteByByte() {
    System.out.println("seed " + SEED);
    for (int i = 0; i < STREAMS; i++) {
      ResponseTap matching = ResponseTap.forContentType(Bodies.SSE);
      ResponseTap byteByByte = ResponseTap.forContentType(Bodies.SSE);
      StringBuilder stream = new StringBuilder();
      String frame = any(FRAMES);
      for (int event = 1; event <= 8; event++) {
        frame = random.nextInt(4) == 0 ? any(FRAMES) : frame;
        byte[] bytes = events(frame);
        stream.append(new String(bytes, StandardCharsets.UTF_8));
        matching.see(ByteBuffer.wrap(bytes), event * 1_000L);
        for (int at = 0; at < bytes.length; at++) {
          byteByByte.see(ByteBuffer.wrap(bytes, at, 1), event * 1_000L);
        }
      }

      assertThat(Seen.of(matching)).as("%s", stream).isEqualTo(Seen.of(byteByByte));
    }
  }

  /** Returns one or two events of a frame, sometimes with a misplaced byte. */
  private byte[] events(String frame) {
    String events = frame.replace("%s", any(TEXTS));
    if (random.nextInt(3) == 0) {
      events += frame.replace("%s", any(TEXTS));
    }
    byte[] bytes = events.getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(8) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) "\"\\\n\r{}a:".charAt(random.nextInt(8));
    }
    return bytes;
  }

  private String any(List<String> all) {
    return all.get(random.nextInt(all.size()));
  }

  @Test
  void eventWithAnotherText_matches() {
    store("data: {'a':'", "one", "'}\n\n");

    assertThat(matches("data: {'a':'another \\\" text'}\n\n")).isTrue();
    assertThat(matches("data: {'a':'another'}\n\ndata: more")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: {'b':'one'}\n\n",
        "data: {'a':''}\n\n",
        "data: {'a':''}\n\ndata: more",
        "data: {'a':'one'}\n",
        "data: {'a':'one' }\n\n",
        "data: {'a':'one\n'}\n\n",
        "data: {'a':'one\\",
        "data: {'a':'",
        "data"
      })
  void eventThatDiffersElsewhere_doesNotMatch(String event) {
    store("data: {'a':'", "one", "'}\n\n");

    assertThat(matches(event)).isFalse();
  }

  @Test
  void afterManyMismatches_eventsAreNoLongerStored() {
    for (int i = 0; i < 5; i++) {
      store("data: " + i + "'", "one", "'}\n\n");
    }

    assertThat(matches("data: 4'one'}\n\n")).isFalse();
  }

  @Test
  void longEvent_isNotStored() {
    store("data: " + " ".repeat(EventTemplate.MAX_BYTES) + "'", "one", "'}\n\n");

    assertThat(matches("data: " + " ".repeat(EventTemplate.MAX_BYTES) + "'two'}\n\n")).isFalse();
  }

  private void store(String before, String text, String after) {
    String event = quoted(before + text + after);
    template.store(Seen.buffer(event), 0, before.length(), event.length());
  }

  /** Returns whether the event is skipped as a whole, whatever follows it. */
  private boolean matches(String text) {
    String event = quoted(text);
    int end = template.match(Seen.buffer(event), 0, event.length());
    return end > 0 && event.substring(0, end).endsWith("\n\n");
  }

  private static String quoted(String text) {
    return text.replace('\'', '"');
  }
}
