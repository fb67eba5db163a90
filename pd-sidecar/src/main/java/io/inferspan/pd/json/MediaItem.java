package io.inferspan.pd.json;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A part of a chat message that is not text: an image, a video, or audio.
 *
 * @param type the type, such as {@code image_url}
 * @param json the item in {@code messages[].content[]}
 */
public record MediaItem(String type, JsonValue json) {
  private static final Set<String> TYPES =
      Set.of("image_url", "audio_url", "video_url", "input_audio");

  /**
   * Returns a body's items in order; of items with the same URL, only the first.
   *
   * @param most the maximum number of items to expect; for a body with more, the list has {@code
   *     most + 1}
   */
  public static List<MediaItem> distinctIn(JsonObject body, int most) {
    List<MediaItem> items = new ArrayList<>();
    Set<ByteBuffer> urls = new HashSet<>();
    for (JsonValue message : elements(body.value("messages"))) {
      for (JsonValue part : elements(message.member("content"))) {
        MediaItem item = of(part);
        ByteBuffer url = item == null ? null : item.url();
        if (item != null && (url == null || urls.add(url))) {
          items.add(item);
        }
        if (items.size() > most) {
          return items;
        }
      }
    }
    return items;
  }

  private static Iterable<JsonValue> elements(@Nullable JsonValue array) {
    return array == null ? List.of() : array.elements();
  }

  private static @Nullable MediaItem of(JsonValue element) {
    JsonValue type = element.member("type");
    for (String known : TYPES) {
      if (type != null && type.isText(known)) {
        return new MediaItem(known, element);
      }
    }
    return null;
  }

  /**
   * Returns the item's URL, or null if it has none. The URL is copied only if it has escapes,
   * because a data URL contains the whole image.
   */
  private @Nullable ByteBuffer url() {
    JsonValue source = json.member(type);
    JsonValue url = source == null ? null : source.member("url");
    if (url == null || !url.isString()) {
      return null;
    }
    if (url.isEscaped()) {
      return ByteBuffer.wrap(url.decoded().getBytes(StandardCharsets.UTF_8));
    }
    return ByteBuffer.wrap(url.bytes(), url.from() + 1, url.length() - 2);
  }
}
