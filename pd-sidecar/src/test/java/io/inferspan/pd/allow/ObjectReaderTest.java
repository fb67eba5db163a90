package io.inferspan.pd.allow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.allow.ObjectReader.ObjectEvent;
import io.inferspan.pd.allow.ObjectReader.ObjectEvent.Failed;
import io.inferspan.pd.allow.ObjectReader.ObjectEvent.Gone;
import io.inferspan.pd.allow.ObjectReader.ObjectEvent.Present;
import io.inferspan.pd.allow.ObjectReader.ObjectEvent.UpTo;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ObjectReaderTest {
  private static final String LIST =
      """
      {"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[
       {"metadata":{"name":"a","resourceVersion":"3","ownerReferences":[{"name":"x"}]},
        "spec":{"volumes":[{"name":"v"}]},
        "status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],
         "hostIP":"192.0.2.1"}},
       {"metadata":{"name":"b"},"status":{"phase":"Succeeded","podIP":null}}]}\
      """;
  private static final String WATCH =
      """
      {"type":"ADDED","object":{"metadata":{"name":"p","resourceVersion":"8"},
       "spec":{"selector":{"matchLabels":{"app":"x","example.com/role":"p"}}}}}
      {"type":"DELETED","object":{"metadata":{"name":"p","resourceVersion":"9"}}}
      {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"20"}}}
      {"type":"ERROR","object":{"kind":"Status","metadata":{},"code":410}}
      """;

  @Test
  void list_isReadToItsVersion() {
    assertThat(read(LIST, Integer.MAX_VALUE))
        .containsExactly(
            new Present(new ObjectState("a", Set.of("10.0.0.1", "fd00::1"), Map.of(), false)),
            new Present(new ObjectState("b", Set.of(), Map.of(), true)),
            new UpTo("7"));
  }

  @Test
  void watch_isReadEventByEvent() {
    Map<String, String> selector = Map.of("app", "x", "example.com/role", "p");
    assertThat(read(WATCH, Integer.MAX_VALUE))
        .containsExactly(
            new Present(new ObjectState("p", Set.of(), selector, false)),
            new UpTo("8"),
            new Gone("p"),
            new UpTo("9"),
            new UpTo("20"),
            new Failed());
  }

  @Test
  void flatSelector_isRead() {
    String pool = "{\"metadata\":{},\"items\":[{\"spec\":{\"selector\":{\"app\":\"x\"}}}]}";
    assertThat(read(pool, 5))
        .containsExactly(new Present(new ObjectState("", Set.of(), Map.of("app", "x"), false)));
  }

  @Test
  void pieces_mayEndAnywhere() {
    for (String text : List.of(LIST, WATCH)) {
      List<ObjectEvent> whole = read(text, Integer.MAX_VALUE);
      for (int size = 1; size < 40; size++) {
        assertThat(read(text, size)).isEqualTo(whole);
      }
    }
  }

  @Test
  void listThatIsCutOff_hasNoVersion() {
    String cut = LIST.substring(0, LIST.length() - 1);
    assertThat(read(cut, Integer.MAX_VALUE)).noneMatch(UpTo.class::isInstance);
  }

  @Test
  void invalidJson_isADecodeException() {
    assertThatThrownBy(() -> read("{\"items\":]", 100)).isInstanceOf(DecodeException.class);
  }

  @Test
  void mutatedJson_isReadOrRefused() {
    Random random = new Random(5);
    for (int i = 0; i < 5_000; i++) {
      boolean watch = i % 2 == 1;
      byte[] garbled = (watch ? WATCH : LIST).getBytes(StandardCharsets.UTF_8);
      for (int n = 0; n < 3; n++) {
        garbled[random.nextInt(garbled.length)] = (byte) random.nextInt(256);
      }
      try {
        read(garbled, 1 + random.nextInt(50), watch);
      } catch (DecodeException e) {
        assertThat(e).isNotNull();
      }
    }
  }

  private static List<ObjectEvent> read(String text, int pieceSize) {
    return read(text.getBytes(StandardCharsets.UTF_8), pieceSize, text.equals(WATCH));
  }

  private static List<ObjectEvent> read(byte[] bytes, int pieceSize, boolean watch) {
    List<ObjectEvent> events = new ArrayList<>();
    ObjectReader reader =
        watch ? ObjectReader.ofWatch(events::add) : ObjectReader.ofList(events::add);
    for (int at = 0; at < bytes.length; at += Math.min(pieceSize, bytes.length)) {
      int end = (int) Math.min(bytes.length, (long) at + pieceSize);
      reader.read(Buffer.buffer(Arrays.copyOfRange(bytes, at, end)));
    }
    return events;
  }
}
