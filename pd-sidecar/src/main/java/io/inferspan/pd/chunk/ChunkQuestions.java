package io.inferspan.pd.chunk;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.stage.BodyMembers;
import org.jspecify.annotations.Nullable;

/** What the decoder is asked for each chunk: to go on where it stopped, for so many tokens. */
public final class ChunkQuestions {
  private static final String ROLE = "role";
  private static final String CONTENT = "content";
  private static final JsonShape MESSAGE = JsonShape.of(ROLE, CONTENT);

  private final JsonObject body;
  private final int chunkSize;
  private final @Nullable JsonValue messages;

  /** The client's own unfinished message, which the answer goes on with; null for none. */
  private @Nullable JsonValue begun;

  private String begunText = "";

  private long tokensLeft;
  private long minTokensLeft;

  private ChunkQuestions(JsonObject body, int chunkSize, long budget) {
    this.body = body;
    this.chunkSize = chunkSize;
    this.tokensLeft = budget;
    JsonValue least = body.value(BodyMembers.MIN_TOKENS);
    this.minTokensLeft = least == null ? 0 : least.longValue(0);
    this.messages = body.value(BodyMembers.MESSAGES);
    takeBegun();
  }

  /** The questions of a request; null where one piece is enough, or more than text is wanted. */
  public static @Nullable ChunkQuestions of(JsonObject body, int chunkSize) {
    JsonValue answers = body.value(BodyMembers.N);
    boolean several = answers != null && !answers.isNull() && answers.longValue(0) != 1;
    long budget = budget(body);
    return several || budget <= chunkSize ? null : new ChunkQuestions(body, chunkSize, budget);
  }

  /** How many tokens the client wants at most; what is no number is the engine's to refuse. */
  private static long budget(JsonObject body) {
    JsonValue newer = body.value(BodyMembers.MAX_COMPLETION_TOKENS);
    JsonValue set = newer == null || newer.isNull() ? body.value(BodyMembers.MAX_TOKENS) : newer;
    return set == null || set.isNull() ? Long.MAX_VALUE : set.longValue(0);
  }

  private void takeBegun() {
    JsonValue continued = body.value(BodyMembers.CONTINUE_FINAL_MESSAGE);
    if (continued == null || !continued.isTrue() || messages == null) {
      return;
    }
    JsonValue last = messages.lastElement();
    JsonObject message = last == null ? null : last.object(MESSAGE);
    JsonValue content = message == null ? null : message.value(CONTENT);
    String text = content == null ? null : content.text();
    if (text != null) {
      begun = last;
      begunText = text;
    }
  }

  /** The next question, given what was generated so far; empty for the first. */
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

  /** The KV blocks are here after the first chunk. */
  private JsonEdit goOn(JsonEdit edit, String generated) {
    return edit.remove(BodyMembers.KV_TRANSFER_PARAMS)
        .set(BodyMembers.CONTINUE_FINAL_MESSAGE, true)
        .set(BodyMembers.ADD_GENERATION_PROMPT, false)
        .set(BodyMembers.MESSAGES, messagesWith(generated));
  }

  private byte[] messagesWith(String generated) {
    JsonWriter out = new JsonWriter().beginArray();
    JsonObject message = begun == null ? null : begun.object(MESSAGE);
    if (messages != null && begun != null && message != null) {
      out.elementsBefore(begun, messages);
      byte[] longer = message.edit().setText(CONTENT, begunText + generated).toBytes();
      return out.raw(new String(longer, UTF_8)).endArray().toBytes();
    }
    if (messages != null) {
      out.elementsOf(messages);
    }
    out.beginObject().name(ROLE).text("assistant").name(CONTENT).text(generated).endObject();
    return out.endArray().toBytes();
  }

  /** How many tokens the next question is for. */
  long budget() {
    return Math.min(chunkSize, tokensLeft);
  }

  /** So many tokens have come. */
  void generated(long tokens) {
    tokensLeft -= tokens;
    minTokensLeft = Math.max(0, minTokensLeft - tokens);
  }

  /** Whether the client has all the tokens it asked for. */
  boolean exhausted() {
    return tokensLeft <= 0;
  }
}
