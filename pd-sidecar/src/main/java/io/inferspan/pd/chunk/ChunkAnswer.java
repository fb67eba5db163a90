package io.inferspan.pd.chunk;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The decoder's response for one chunk.
 *
 * @param json the whole response
 * @param choice its first choice, or null
 * @param text the generated text
 * @param cut whether generation was cut off
 */
record ChunkAnswer(JsonObject json, @Nullable JsonObject choice, String text, boolean cut) {
  static final String CHOICES = "choices";
  static final String USAGE = "usage";
  static final String MESSAGE = "message";
  static final String FINISH_REASON = "finish_reason";

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
