package io.inferspan.epp;

import io.inferspan.json.Grammar;
import io.inferspan.json.JsonCursor;
import io.inferspan.json.JsonScanner;
import io.inferspan.json.JsonSink;
import io.inferspan.json.NodeType;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The media of a request.
 *
 * @param kinds sorted and separated by commas, or {@code none}
 * @param items the number of distinct items
 */
record Media(String kinds, int items) {

  private static final String NONE = "none";

  static Media of(Collection<String> kinds, int items) {
    TreeSet<String> sorted = new TreeSet<>();
    kinds.forEach(kind -> sorted.add(kind.toLowerCase(Locale.ROOT)));
    return new Media(sorted.isEmpty() ? NONE : String.join(",", sorted), items);
  }

  /**
   * Counts image, audio and video parts in the JSON of a body's messages, without building a tree;
   * parts with the same source count once. A text prompt has none.
   */
  static Media within(byte[] input) {
    Parts parts = new Parts(input);
    if (input.length > 0 && input[0] == '[') {
      parts.scan(Parts.MESSAGES, 0, input.length);
    }
    return of(parts.kinds, parts.sources.size());
  }

  /** The parts of messages. Invalid JSON gives an arbitrary result, or none. */
  private static final class Parts implements JsonSink {

    private static final int MESSAGE_LIST = NodeType.LIST | 1;
    private static final int MESSAGE = NodeType.OBJECT | 1;
    private static final int CONTENT = NodeType.LIST | 2;
    private static final int PART = NodeType.RANGE | 1;
    private static final int SOURCE = NodeType.RANGE | 2;
    private static final int ADDRESS = NodeType.RANGE | 3;
    private static final int TYPE = NodeType.KEYWORD | 1;

    private static final List<String> KINDS = List.of("", "image", "audio", "video");

    private static final Grammar MESSAGES =
        new Grammar()
            .rootList(MESSAGE_LIST)
            .put(MESSAGE, CONTENT, "content")
            .elements(CONTENT, PART);

    private static final Grammar FIELDS =
        new Grammar()
            .put(NodeType.ROOT, TYPE, "type")
            .put(NodeType.ROOT, SOURCE, "image_url", "audio_url", "video_url", "input_audio")
            .put(NodeType.ROOT, SOURCE, "source", "file_id")
            .put(TYPE, 1, "image_url", "input_image", "image")
            .put(TYPE, 2, "audio_url", "input_audio")
            .put(TYPE, 3, "video_url");

    /** The content of a source that is an object: {@code {"url":"…"}}, {@code {"data":"…"}}. */
    private static final Grammar SOURCES = new Grammar().put(NodeType.ROOT, ADDRESS, "url", "data");

    /** The maximum number of distinct items that are counted. */
    private static final int MAX_ITEMS = 1024;

    private final byte[] json;
    private final Set<String> kinds = new HashSet<>();
    private final Set<ByteBuffer> sources = new HashSet<>();
    private int kind;
    private @Nullable ByteBuffer source;

    Parts(byte[] json) {
      this.json = json;
    }

    void scan(Grammar grammar, int from, int to) {
      JsonScanner scanner = new JsonScanner(grammar, this);
      ByteBuffer bytes = ByteBuffer.wrap(json);
      for (int at = from; at < to; at++) {
        at = scanner.scan(bytes, at, to, 0);
      }
    }

    @Override
    public void keyword(int node, int meaning, JsonCursor cursor) {
      kind = meaning;
    }

    @Override
    public void range(int node, int from, int end) {
      int to = end;
      while (json[to - 1] <= ' ' && json[to - 1] >= 0) {
        to--;
      }
      ByteBuffer value = ByteBuffer.wrap(json, from, to - from);
      switch (node) {
        case PART -> part(value, from, to);
        case SOURCE, ADDRESS -> {
          if (json[from] == '"') {
            source = value;
          } else if (node == SOURCE) {
            scan(SOURCES, from, to);
          }
        }
        default -> {}
      }
    }

    private void part(ByteBuffer whole, int from, int to) {
      kind = NodeType.NOTHING;
      source = null;
      scan(FIELDS, from, to);
      if (kind != NodeType.NOTHING && sources.size() < MAX_ITEMS) {
        kinds.add(KINDS.get(kind));
        sources.add(source == null ? whole : source);
      }
    }
  }
}
