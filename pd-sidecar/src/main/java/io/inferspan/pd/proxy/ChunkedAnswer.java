package io.inferspan.pd.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonValue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Combines the responses of a chunked decode, which requests a limited number of tokens per call (a
 * chunk), into one: a whole response, or a stream of events.
 *
 * <p>The usage has the prompt tokens of the first chunk, because the prompts of later chunks also
 * contain generated text, and the generated tokens of all chunks.
 */
final class ChunkedAnswer {
  private static final String CHOICES = "choices";
  private static final String USAGE = "usage";
  private static final String MESSAGE = "message";
  private static final String FINISH_REASON = "finish_reason";
  private static final String OBJECT = "object";
  private static final String EVENT_OBJECT = "chat.completion.chunk";
  private static final String TOOL_CALLS = "tool_calls";
  private static final String COMPLETION = "completion_tokens";
  private static final String DETAILS = "completion_tokens_details";
  private static final String REASONING = "reasoning_tokens";
  private static final byte[] DATA = "data: ".getBytes(UTF_8);
  private static final byte[] END_OF_EVENT = "\n\n".getBytes(UTF_8);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(UTF_8);

  /**
   * The decoder's response for one chunk.
   *
   * @param choice its first choice, or null
   * @param cut whether generation was cut off
   */
  record ChunkAnswer(JsonObject json, @Nullable JsonObject choice, String text, boolean cut) {
    static ChunkAnswer of(JsonObject json) {
      JsonValue first = json.at(CHOICES, "0");
      JsonObject choice = first == null ? null : first.object();
      if (choice == null) {
        return new ChunkAnswer(json, null, "", false);
      }
      JsonValue content = choice.at(MESSAGE, "content");
      String text = content == null ? null : content.text();
      JsonValue reason = choice.value(FINISH_REASON);
      boolean cut = reason != null && reason.isText("length");
      return new ChunkAnswer(json, choice, text == null ? "" : text, cut);
    }

    /** Returns the tokens that the engine counted; 0 if it did not count. */
    long tokens() {
      return json.longAt(0, USAGE, "completion_tokens");
    }
  }

  private final StringBuilder text = new StringBuilder();
  private @Nullable ChunkAnswer first;
  private @Nullable ChunkAnswer last;
  private @Nullable JsonObject firstUsage;
  private long completion;
  private long reasoning;
  private int chunks;

  void add(ChunkAnswer chunk) {
    if (first == null) {
      first = chunk;
    }
    last = chunk;
    chunks++;
    text.append(chunk.text());
    JsonValue usage = chunk.json().value(USAGE);
    JsonObject counted = usage == null ? null : usage.object();
    if (counted != null) {
      firstUsage = firstUsage == null ? counted : firstUsage;
      completion += counted.longAt(0, COMPLETION);
      reasoning += counted.longAt(0, DETAILS, REASONING);
    }
  }

  String text() {
    return text.toString();
  }

  int length() {
    return text.length();
  }

  int chunks() {
    return chunks;
  }

  /** Returns the last chunk's response with the text and the tokens of all chunks. */
  byte[] whole() {
    ChunkAnswer ending = required(last);
    JsonEdit edit = ending.json().edit();
    if (firstUsage != null) {
      edit.set(USAGE, total(firstUsage));
    }
    JsonObject choice = ending.choice();
    if (choice != null && !text.isEmpty()) {
      JsonEdit merged = choice.edit();
      merged.within(MESSAGE).setText("content", text());
      edit.set(CHOICES, array(merged));
    }
    return edit.toBytes();
  }

  private JsonPieces total(JsonObject usage) {
    long prompt = usage.longAt(0, "prompt_tokens");
    JsonEdit edit =
        usage.edit().set(COMPLETION, completion).set("total_tokens", prompt + completion);
    if (usage.at(DETAILS, REASONING) != null) {
      edit.within(DETAILS).set(REASONING, reasoning);
    }
    return edit.pieces();
  }

  /** Returns the latest chunk as an event, with the id of the stream's first event. */
  ByteBuf event(boolean goesOn) {
    ChunkAnswer chunk = required(last);
    JsonEdit edit = chunk.json().edit().setText(OBJECT, EVENT_OBJECT).remove(USAGE);
    JsonObject choice = chunk.choice();
    if (choice != null) {
      JsonEdit changed = choice.edit().remove(MESSAGE).set("delta", delta(choice.value(MESSAGE)));
      if (goesOn) {
        changed.set(FINISH_REASON, "null");
      }
      edit.set(CHOICES, array(changed));
    }
    return event(identified(edit).toBytes());
  }

  /** Returns the message as a delta, in which tool calls are numbered. */
  private static JsonPieces delta(@Nullable JsonValue message) {
    JsonObject whole = message == null ? null : message.object();
    if (whole == null) {
      return new JsonPieces().raw("{}");
    }
    JsonEdit edit = whole.edit();
    JsonValue calls = whole.value(TOOL_CALLS);
    if (calls != null && calls.isArray()) {
      edit.set(TOOL_CALLS, numbered(calls));
    }
    return edit.pieces();
  }

  private static JsonPieces numbered(JsonValue calls) {
    JsonPieces out = new JsonPieces().raw("[");
    int index = 0;
    for (JsonValue element : calls.elements()) {
      JsonObject call = element.object();
      if (call != null) {
        out.raw(index == 0 ? "" : ",").add(call.edit().set("index", index++).pieces());
      }
    }
    return out.raw("]");
  }

  /** Returns the events after the last chunk: the usage of all chunks, and the end. */
  ByteBuf ending() {
    ByteBuf done = Unpooled.wrappedBuffer(DONE);
    if (firstUsage == null) {
      return done;
    }
    JsonEdit edit = required(last).json().edit().setText(OBJECT, EVENT_OBJECT).set(CHOICES, "[]");
    edit.set(USAGE, total(firstUsage));
    return Unpooled.wrappedBuffer(event(identified(edit).toBytes()), done);
  }

  private JsonEdit identified(JsonEdit edit) {
    for (String name : List.of("id", "created")) {
      JsonValue value = required(first).json().value(name);
      if (value != null) {
        edit.set(name, value);
      }
    }
    return edit;
  }

  /**
   * Returns an event with this JSON, without the line breaks between JSON tokens, which event data
   * must not contain.
   */
  static ByteBuf event(byte[] json) {
    for (int i = 0; i < json.length; i++) {
      if (json[i] == '\n' || json[i] == '\r') {
        json[i] = ' ';
      }
    }
    return Unpooled.wrappedBuffer(DATA, json, END_OF_EVENT);
  }

  private static JsonPieces array(JsonEdit element) {
    return new JsonPieces().raw("[").add(element.pieces()).raw("]");
  }

  private static ChunkAnswer required(@Nullable ChunkAnswer chunk) {
    if (chunk == null) {
      throw new IllegalStateException("no chunk yet");
    }
    return chunk;
  }
}
