package io.inferspan.epp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

  static Media of(List<String> kinds, int items) {
    TreeSet<String> sorted = new TreeSet<>();
    kinds.forEach(kind -> sorted.add(kind.toLowerCase(Locale.ROOT)));
    return new Media(sorted.isEmpty() ? NONE : String.join(",", sorted), items);
  }

  /**
   * Counts image, audio and video parts in the JSON of a body's messages, without building a tree;
   * parts with the same source count once. A text prompt has none.
   */
  static Media within(byte[] input) {
    Scan scan = new Scan(input);
    scan.run();
    return of(List.copyOf(scan.kinds), scan.sources.size());
  }

  /** One pass over messages. Invalid JSON gives an arbitrary result, or none. */
  private static final class Scan {

    // The depths of the relevant brackets: [{"content":[{"image_url":{"url":"…"}}]}]
    private static final int MESSAGE = 2;
    private static final int PART = 4;
    private static final int SOURCE = 5;

    /** The maximum number of distinct items that are counted. */
    private static final int MAX_ITEMS = 1024;

    private static final Set<String> SOURCES =
        Set.of("image_url", "audio_url", "video_url", "input_audio", "source", "file_id");

    private final byte[] json;
    private final Set<String> kinds = new TreeSet<>();
    private final Set<ByteBuffer> sources = new HashSet<>();
    private int at;
    private int depth;
    private boolean inContent;
    private String key = "";
    private boolean inSource;
    private int partStart;
    private @Nullable String kind;
    private @Nullable ByteBuffer source;

    Scan(byte[] json) {
      this.json = json;
    }

    void run() {
      if (json.length == 0 || json[0] != '[') {
        return;
      }
      while (at < json.length) {
        switch (json[at]) {
          case '"' -> string();
          case '{', '[' -> open();
          case '}', ']' -> close();
          default -> at++;
        }
      }
    }

    private void open() {
      depth++;
      if (depth == PART) {
        partStart = at;
        kind = null;
        source = null;
      } else if (depth == SOURCE) {
        inSource = SOURCES.contains(key);
      }
      key = "";
      at++;
    }

    private void close() {
      at++;
      if (depth == PART && inContent && kind != null && sources.size() < MAX_ITEMS) {
        kinds.add(kind);
        sources.add(source == null ? range(partStart, at) : source);
      }
      depth--;
    }

    private void string() {
      int start = at + 1;
      skipString();
      int end = Math.min(at - 1, json.length);
      if (isKey()) {
        key = depth == MESSAGE || depth == PART || depth == SOURCE ? text(start, end) : "";
        inContent = depth == MESSAGE ? key.equals("content") : inContent;
      } else if (depth == PART && key.equals("type")) {
        kind = kind(text(start, end));
      } else if (isSource()) {
        source = range(start, end);
      }
    }

    /**
     * Returns whether a value is a source, or an object with one: {@code {"url":"…"}}, {@code
     * {"data":"…"}}.
     */
    private boolean isSource() {
      return depth == PART
          ? SOURCES.contains(key)
          : depth == SOURCE && inSource && (key.equals("url") || key.equals("data"));
    }

    private void skipString() {
      at++;
      while (at < json.length && json[at] != '"') {
        at += json[at] == '\\' ? 2 : 1;
      }
      at++;
    }

    private boolean isKey() {
      int next = at;
      while (next < json.length && json[next] <= ' ' && json[next] > 0) {
        next++;
      }
      return next < json.length && json[next] == ':';
    }

    private static @Nullable String kind(String type) {
      return switch (type) {
        case "image_url", "input_image", "image" -> "image";
        case "audio_url", "input_audio" -> "audio";
        case "video_url" -> "video";
        default -> null;
      };
    }

    /** Returns a string as text; empty if it is longer than all known words. */
    private String text(int start, int end) {
      int length = end - start;
      return length < 0 || length > "input_audio".length()
          ? ""
          : new String(json, start, length, StandardCharsets.US_ASCII);
    }

    private ByteBuffer range(int start, int end) {
      return ByteBuffer.wrap(json, start, Math.max(0, Math.min(end, json.length) - start));
    }
  }
}
