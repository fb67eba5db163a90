package io.inferspan.gateway.extproc;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the choice of an endpoint goes by in a request's body: the model, and the input itself for
 * those plugins that hash it.
 *
 * <p>Only the outermost object is looked at, without a tree. A body that is no JSON is no error
 * here: the engine will say so, and what was found until then counts.
 */
final class ChatBody {

  /** A body that Envoy does not show before it wants its answer. */
  static final ChatBody UNSEEN = new ChatBody(new Scan(Scan.NOTHING), null);

  private final String model;
  private final boolean streaming;
  private final byte @Nullable [] input;
  private final byte[] json;
  private final int modelStart;
  private final int modelEnd;

  private ChatBody(Scan scan, byte @Nullable [] input) {
    this.json = scan.json;
    this.modelStart = scan.modelStart;
    this.modelEnd = scan.modelEnd;
    this.model = scan.model;
    this.streaming = scan.streaming;
    this.input = input;
  }

  static ChatBody read(byte[] body) {
    Scan scan = new Scan(body);
    scan.run();
    return new ChatBody(scan, scan.input);
  }

  /** The model; empty where the body names none. */
  String model() {
    return model;
  }

  /** Whether the client wants a stream. */
  boolean streaming() {
    return streaming;
  }

  /**
   * The prompt, or the messages as they stand in the body; empty where there are none, null where
   * there may be some that were not shown.
   */
  byte @Nullable [] input() {
    return input;
  }

  /** The body with another value in the place of the model's. */
  List<ByteBuffer> withModel(byte[] value) {
    return List.of(
        ByteBuffer.wrap(json, 0, modelStart),
        ByteBuffer.wrap(value),
        ByteBuffer.wrap(json, modelEnd, json.length - modelEnd));
  }

  /** One walk over the outermost object. */
  private static final class Scan {
    private static final byte[] NOTHING = new byte[0];

    private final byte[] json;
    private int at;
    private String model = "";
    private int modelStart;
    private int modelEnd;
    private boolean streaming;
    private byte[] input = NOTHING;

    Scan(byte[] json) {
      this.json = json;
    }

    void run() {
      if (next() != '{') {
        return;
      }
      do {
        at++;
        if (next() != '"') {
          return;
        }
        int nameStart = at + 1;
        skipString();
        String name = name(nameStart, Math.min(at - 1, json.length));
        if (next() != ':') {
          return;
        }
        at++;
        next();
        int valueStart = at;
        skipValue();
        take(name, valueStart, Math.min(at, json.length));
      } while (next() == ',');
    }

    private void take(String name, int start, int end) {
      switch (name) {
        case "model" -> {
          model = JsonString.decode(json, start, end);
          modelStart = start;
          modelEnd = end;
        }
        case "stream" -> streaming = start < end && json[start] == 't';
        case "messages", "prompt", "input" -> input = Arrays.copyOfRange(json, start, end);
        default -> {
          // Of no matter for the choice.
        }
      }
    }

    /** The name where it may be one of ours; no other is worth a string. */
    private String name(int start, int end) {
      int length = end - start;
      boolean known = length >= "model".length() && length <= "messages".length();
      return known ? new String(json, start, length, StandardCharsets.US_ASCII) : "";
    }

    /** The next byte that is no white space, where the walk then stands; 0 at the end. */
    private byte next() {
      while (at < json.length) {
        byte b = json[at];
        if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
          return b;
        }
        at++;
      }
      return 0;
    }

    private void skipValue() {
      int depth = 0;
      while (at < json.length) {
        switch (json[at]) {
          case '"' -> {
            skipString();
            if (depth == 0) {
              return;
            }
            continue;
          }
          case '{', '[' -> depth++;
          case '}', ']' -> {
            if (depth == 0) {
              return;
            }
            depth--;
            if (depth == 0) {
              at++;
              return;
            }
          }
          case ',' -> {
            if (depth == 0) {
              return;
            }
          }
          default -> {
            // Part of a number or a word.
          }
        }
        at++;
      }
    }

    /** From an opening quote to behind the closing one. */
    private void skipString() {
      at++;
      while (at < json.length && json[at] != '"') {
        at += json[at] == '\\' ? 2 : 1;
      }
      at++;
    }
  }
}
