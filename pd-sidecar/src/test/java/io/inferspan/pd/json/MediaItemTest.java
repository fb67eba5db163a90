package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MediaItemTest {

  @Test
  void items_areFoundUnchanged() throws InvalidJson {
    String image = "{ \"type\" : \"image_url\", \"image_url\":{\"url\":\"http://a/1.png\"} }";
    String sound = "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\"}}";
    List<String> items =
        items(
            "{\"messages\":[{\"role\":\"system\",\"content\":\"text\"},"
                + "{\"content\":[{\"type\":\"text\",\"text\":\"?\"}, "
                + image
                + "]},{\"content\":["
                + sound
                + ","
                + sound
                + "]}]}");
    assertThat(items).containsExactly(image, sound, sound);
  }

  @Test
  void itemsWithTheSameUrl_countOnce() throws InvalidJson {
    String first =
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://a/1\",\"detail\":\"low\"}}";
    String same = "{\"type\":\"image_url\",\"image_url\":{\"url\":\"http:\\/\\/a\\/1\"}}";
    String other = "{\"type\":\"video_url\",\"video_url\":{\"url\":\"http://a/2\"}}";
    assertThat(items("{\"messages\":[{\"content\":[" + first + "," + same + "," + other + "]}]}"))
        .containsExactly(first, other);
  }

  @Test
  void tooManyItems_areCutOffAfterOneMore() throws InvalidJson {
    String sound = "{\"type\":\"input_audio\"}";
    String message = "{\"content\":[" + sound + "," + sound + "," + sound + "," + sound + "]}";
    assertThat(items("{\"messages\":[" + message + "," + message + "]}")).hasSize(3);
  }

  @Test
  void malformedMessages_haveNoItems() throws InvalidJson {
    for (String messages :
        new String[] {
          "null",
          "[]",
          "{}",
          "[1,null,[]]",
          "[{}]",
          "[{\"content\":[1,{},{\"type\":1}]}]",
          "[{\"content\":{\"type\":\"image_url\"}}]"
        }) {
      assertThat(items("{\"messages\":" + messages + "}")).isEmpty();
    }
    assertThat(items("{}")).isEmpty();
  }

  private static List<String> items(String body) throws InvalidJson {
    JsonObject object = JsonObject.scan(body.getBytes(UTF_8), 64);
    return MediaItem.distinctIn(object, 2).stream()
        .map(item -> new String(item.json().copy(), UTF_8))
        .toList();
  }
}
