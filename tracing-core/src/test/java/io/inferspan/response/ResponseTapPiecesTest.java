package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The result for a body does not depend on how it is split. */
class ResponseTapPiecesTest {

  static Stream<Arguments> bodies() {
    return Stream.concat(
        bodies(Bodies.SSE, Bodies.streams()), bodies(Bodies.JSON, Bodies.documents()));
  }

  private static Stream<Arguments> bodies(String contentType, Map<String, String> bodies) {
    return bodies.entrySet().stream()
        .map(body -> Arguments.of(body.getKey(), contentType, body.getValue()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void anySplit_givesTheSameFacts(String name, String contentType, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    Seen whole = Seen.of(Seen.whole(contentType, body));
    for (int cut = 0; cut <= bytes.length; cut++) {
      ResponseTap tap = ResponseTap.forContentType(contentType);
      tap.see(ByteBuffer.wrap(bytes, 0, cut), 7);
      tap.see(ByteBuffer.wrap(bytes, cut, bytes.length - cut), 7);

      assertThat(Seen.of(tap)).as("%s, cut at %d", name, cut).isEqualTo(whole);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void piecesOfAnySize_giveTheSameFacts(String name, String contentType, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    Seen whole = Seen.of(Seen.whole(contentType, body));
    for (int size = 1; size < 300; size++) {
      ResponseTap tap = ResponseTap.forContentType(contentType);
      for (int at = 0; at < bytes.length; at += size) {
        tap.see(ByteBuffer.wrap(bytes, at, Math.min(size, bytes.length - at)), 7);
      }

      assertThat(Seen.of(tap)).as("%s, by %d bytes", name, size).isEqualTo(whole);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bodies")
  void singleEvents_giveTheSameFacts(String name, String contentType, String body) {
    ResponseTap tap = ResponseTap.forContentType(contentType);
    body.lines().forEach(line -> tap.see(Seen.buffer(line + "\n"), 7));

    if (!body.contains("\r")) {
      assertThat(Seen.of(tap)).as(name).isEqualTo(Seen.of(Seen.whole(contentType, body)));
    }
  }
}
