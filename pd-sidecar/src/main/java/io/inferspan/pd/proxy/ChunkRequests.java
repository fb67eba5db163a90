package io.inferspan.pd.proxy;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.request.BodyMembers;
import org.jspecify.annotations.Nullable;

/**
 * Builds the decoder's request for each chunk, which continues after the previous one for a limited
 * number of tokens.
 */
final class ChunkRequests {
  private static final String ROLE = "role";
  private static final String CONTENT = "content";

  private final JsonObject body;
  private final int chunkSize;
  private final @Nullable JsonValue messages;

  /** The client's unfinished message, which the response continues; null for none. */
  private @Nullable JsonValue unfinished;

  private String unfinishedText = "";

  private long tokensLeft;
  private long minTokensLeft;

  private ChunkRequests(JsonObject body, int chunkSize, long budget) {
    this.body = body;
    this.chunkSize = chunkSize;
    this.tokensLeft = budget;
    this.minTokensLeft = body.longAt(0, BodyMembers.MIN_TOKENS);
    this.messages = body.value(BodyMembers.MESSAGES);
    readUnfinished();
  }

  /**
   * Returns the requests for decoding in chunks; null if one request is sufficient, or if the
   * client requests several choices ({@code n}).
   */
  static @Nullable ChunkRequests of(JsonObject body, int chunkSize) {
    JsonValue answers = body.value(BodyMembers.N);
    boolean several = answers != null && !answers.isNull() && answers.longValue(0) != 1;
    long budget = budget(body);
    return several || budget <= chunkSize ? null : new ChunkRequests(body, chunkSize, budget);
  }

  /** Returns the client's limit of tokens; the engine rejects a value that is not a number. */
  private static long budget(JsonObject body) {
    JsonValue newer = body.value(BodyMembers.MAX_COMPLETION_TOKENS);
    JsonValue set = newer == null || newer.isNull() ? body.value(BodyMembers.MAX_TOKENS) : newer;
    return set == null || set.isNull() ? Long.MAX_VALUE : set.longValue(0);
  }

  private void readUnfinished() {
    JsonValue continued = body.value(BodyMembers.CONTINUE_FINAL_MESSAGE);
    if (continued == null || !continued.isTrue() || messages == null) {
      return;
    }
    JsonValue last = messages.lastElement();
    JsonObject message = last == null ? null : last.object();
    JsonValue content = message == null ? null : message.value(CONTENT);
    String text = content == null ? null : content.text();
    if (text != null) {
      unfinished = last;
      unfinishedText = text;
    }
  }

  /**
   * Returns the next request for the text generated so far; the text is empty for the first one.
   */
  JsonEdit next(String generated) {
    long budget = budget();
    JsonEdit edit =
        body.edit()
            .set(BodyMembers.MAX_TOKENS, budget)
            .set(BodyMembers.MAX_COMPLETION_TOKENS, budget)
            .set(BodyMembers.STREAM, false)
            .remove(BodyMembers.STREAM_OPTIONS);
    if (body.has(BodyMembers.MIN_TOKENS)) {
      edit.set(BodyMembers.MIN_TOKENS, Math.min(minTokensLeft, budget));
    }
    return generated.isEmpty() ? edit : goOn(edit, generated);
  }

  /** Continues after the first chunk, which has transferred the KV blocks. */
  private JsonEdit goOn(JsonEdit edit, String generated) {
    return edit.remove(BodyMembers.KV_TRANSFER_PARAMS)
        .set(BodyMembers.CONTINUE_FINAL_MESSAGE, true)
        .set(BodyMembers.ADD_GENERATION_PROMPT, false)
        .set(BodyMembers.MESSAGES, messagesWith(generated));
  }

  private JsonPieces messagesWith(String generated) {
    JsonPieces all = new JsonPieces().raw("[");
    JsonObject message = unfinished == null ? null : unfinished.object();
    boolean any = messages != null && all.elements(messages, message == null ? null : unfinished);
    return all.raw(any ? "," : "").raw(last(message, generated)).raw("]");
  }

  private byte[] last(@Nullable JsonObject message, String generated) {
    if (message != null) {
      return message.edit().setText(CONTENT, unfinishedText + generated).toBytes();
    }
    return new JsonWriter()
        .beginObject()
        .member(ROLE, "assistant")
        .member(CONTENT, generated)
        .endObject()
        .toBytes();
  }

  long budget() {
    return Math.min(chunkSize, tokensLeft);
  }

  void generated(long tokens) {
    tokensLeft -= tokens;
    minTokensLeft = Math.max(0, minTokensLeft - tokens);
  }

  /** Returns whether the client's limit of tokens is reached. */
  boolean exhausted() {
    return tokensLeft <= 0;
  }
}
