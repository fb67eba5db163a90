package io.inferspan.pd.chunk;

import static io.inferspan.pd.chunk.ChunkAnswer.CHOICES;
import static io.inferspan.pd.chunk.ChunkAnswer.CREATED;
import static io.inferspan.pd.chunk.ChunkAnswer.DELTA;
import static io.inferspan.pd.chunk.ChunkAnswer.FINISH_REASON;
import static io.inferspan.pd.chunk.ChunkAnswer.ID;
import static io.inferspan.pd.chunk.ChunkAnswer.MESSAGE;
import static io.inferspan.pd.chunk.ChunkAnswer.OBJECT;
import static io.inferspan.pd.chunk.ChunkAnswer.USAGE;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** Combines the responses to the chunks into one: a whole response, or a stream of events. */
final class ChunkedAnswer {
  private static final String EVENT_OBJECT = "chat.completion.chunk";
  private static final String TOOL_CALLS = "tool_calls";
  private static final byte[] DATA = "data: ".getBytes(UTF_8);
  private static final byte[] END_OF_EVENT = "\n\n".getBytes(UTF_8);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(UTF_8);

  private final StringBuilder text = new StringBuilder();
  private final ChunkedUsage usage = new ChunkedUsage();
  private @Nullable ChunkAnswer first;
  private @Nullable ChunkAnswer last;
  private int chunks;

  void add(ChunkAnswer chunk) {
    if (first == null) {
      first = chunk;
    }
    last = chunk;
    chunks++;
    text.append(chunk.text());
    usage.add(chunk.json().value(USAGE));
  }

  /** Returns the text generated so far. */
  String text() {
    return text.toString();
  }

  /** Returns its length in characters. */
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
    byte[] total = usage.total();
    if (total != null) {
      edit.set(USAGE, total);
    }
    JsonObject choice = ending.choice();
    if (choice != null && !text.isEmpty()) {
      JsonEdit merged = choice.edit();
      merged.within(MESSAGE).setText("content", text());
      edit.set(CHOICES, array(merged));
    }
    return edit.toBytes();
  }

  /** Returns the latest chunk as an event, with the id of the stream's first event. */
  ByteBuf event(boolean goesOn) {
    ChunkAnswer chunk = required(last);
    JsonEdit edit = chunk.json().edit().setText(OBJECT, EVENT_OBJECT).remove(USAGE);
    JsonObject choice = chunk.choice();
    if (choice != null) {
      JsonEdit changed = choice.edit().remove(MESSAGE).set(DELTA, delta(choice.value(MESSAGE)));
      if (goesOn) {
        changed.set(FINISH_REASON, "null");
      }
      edit.set(CHOICES, array(changed));
    }
    return event(identified(edit).toBytes());
  }

  /** Returns the message as a delta, in which tool calls are numbered. */
  private static byte[] delta(@Nullable JsonValue message) {
    JsonObject whole = message == null ? null : message.object();
    if (whole == null) {
      return "{}".getBytes(UTF_8);
    }
    JsonEdit edit = whole.edit();
    JsonValue calls = whole.value(TOOL_CALLS);
    if (calls != null && calls.isArray()) {
      edit.set(TOOL_CALLS, numbered(calls));
    }
    return edit.toBytes();
  }

  private static byte[] numbered(JsonValue calls) {
    JsonWriter out = new JsonWriter().beginArray();
    int[] index = new int[1];
    calls.forEachElement(
        element -> {
          JsonObject call = element.object();
          if (call != null) {
            out.raw(new String(call.edit().set("index", index[0]++).toBytes(), UTF_8));
          }
        });
    return out.endArray().toBytes();
  }

  /** Returns the events after the last chunk: the usage of all chunks, and the end. */
  ByteBuf ending() {
    byte[] total = usage.total();
    if (total == null) {
      return Unpooled.wrappedBuffer(DONE);
    }
    JsonEdit edit =
        required(last)
            .json()
            .edit()
            .setText(OBJECT, EVENT_OBJECT)
            .set(CHOICES, "[]")
            .set(USAGE, total);
    return Unpooled.wrappedBuffer(event(identified(edit).toBytes()), Unpooled.wrappedBuffer(DONE));
  }

  private JsonEdit identified(JsonEdit edit) {
    JsonObject began = required(first).json();
    JsonValue id = began.value(ID);
    JsonValue created = began.value(CREATED);
    if (id != null) {
      edit.set(ID, id);
    }
    if (created != null) {
      edit.set(CREATED, created);
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

  private static byte[] array(JsonEdit element) {
    return new JsonWriter()
        .beginArray()
        .raw(new String(element.toBytes(), UTF_8))
        .endArray()
        .toBytes();
  }

  private static ChunkAnswer required(@Nullable ChunkAnswer chunk) {
    if (chunk == null) {
      throw new IllegalStateException("no chunk yet");
    }
    return chunk;
  }
}
