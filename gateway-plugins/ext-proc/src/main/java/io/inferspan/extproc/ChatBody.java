package io.inferspan.extproc;

import io.inferspan.json.Grammar;
import io.inferspan.json.JsonScanner;
import io.inferspan.json.JsonSink;
import io.inferspan.json.NodeType;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request's body that determine its endpoint: the model, and the input for plugins
 * that hash it.
 *
 * <p>Only the outermost object is parsed, without a tree. Invalid JSON is not an error here,
 * because the engine reports it; fields before the invalid part are used.
 */
final class ChatBody implements JsonSink {

  /** The length limit of a model name. */
  static final int MAX_MODEL_BYTES = 1024;

  private static final int MODEL = NodeType.RANGE | 1;
  private static final int STREAM = NodeType.RANGE | 2;
  private static final int INPUT = NodeType.RANGE | 3;

  private static final Grammar GRAMMAR =
      new Grammar()
          .put(NodeType.ROOT, MODEL, "model")
          .put(NodeType.ROOT, STREAM, "stream")
          .put(NodeType.ROOT, INPUT, "messages", "prompt", "input");

  private static final byte[] NOTHING = {};

  /** Stands for a body that has not arrived when the endpoint is picked. */
  static final ChatBody UNSEEN = new ChatBody(NOTHING, null);

  private final byte[] json;
  private byte @Nullable [] input;
  private String model = "";
  private int modelStart;
  private int modelEnd;
  private boolean streaming;
  private boolean over;

  private ChatBody(byte[] json, byte @Nullable [] input) {
    this.json = json;
    this.input = input;
  }

  static ChatBody read(byte[] body) {
    ChatBody read = new ChatBody(body, NOTHING);
    JsonScanner scanner = new JsonScanner(GRAMMAR, read);
    ByteBuffer bytes = ByteBuffer.wrap(body);
    for (int at = 0; at < body.length && !read.over; at++) {
      at = scanner.scan(bytes, at, body.length, 0);
    }
    scanner.end(body.length);
    return read;
  }

  @Override
  public void leaves(int node) {
    over |= node == NodeType.ROOT;
  }

  @Override
  public void range(int node, int from, int end) {
    if (over) {
      return;
    }
    int to = end;
    while (to > from && json[to - 1] <= ' ' && json[to - 1] >= 0) {
      to--;
    }
    switch (node) {
      case MODEL -> {
        model = text(from, to);
        modelStart = from;
        modelEnd = to;
      }
      case STREAM -> streaming = json[from] == 't';
      default -> input = Arrays.copyOfRange(json, from, to);
    }
  }

  /** Returns the text between the quotes at the ends of the range; empty if it is not a string. */
  private String text(int from, int to) {
    boolean quoted = to - from >= 2 && json[from] == '"' && json[to - 1] == '"';
    if (!quoted || to - from > MAX_MODEL_BYTES) {
      return "";
    }
    String quotedText = new String(json, from, to - from, StandardCharsets.UTF_8);
    String raw = quotedText.substring(1, quotedText.length() - 1);
    try {
      return raw.indexOf('\\') < 0 ? raw : (String) Json.decodeValue(quotedText);
    } catch (DecodeException e) {
      return raw;
    }
  }

  /** Returns the model; empty if the body names none. */
  String model() {
    return model;
  }

  /** Returns whether the client requests a stream. */
  boolean streaming() {
    return streaming;
  }

  /**
   * Returns the prompt, or the JSON of the messages; empty if there are none, null if Envoy did not
   * send the body.
   */
  byte @Nullable [] input() {
    return input;
  }

  /** Returns the body with another model. */
  List<ByteBuffer> withModel(byte[] value) {
    return List.of(
        ByteBuffer.wrap(json, 0, modelStart),
        ByteBuffer.wrap(value),
        ByteBuffer.wrap(json, modelEnd, json.length - modelEnd));
  }
}
