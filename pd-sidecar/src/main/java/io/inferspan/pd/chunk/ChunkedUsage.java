package io.inferspan.pd.chunk;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The usage of a chunked response: the prompt tokens of the first chunk, and the generated tokens
 * of all.
 *
 * <p>The prompts of later chunks contain generated text, which is not the client's.
 */
final class ChunkedUsage {
  private static final String PROMPT = "prompt_tokens";
  private static final String COMPLETION = "completion_tokens";
  private static final String TOTAL = "total_tokens";
  private static final String DETAILS = "completion_tokens_details";
  private static final String REASONING = "reasoning_tokens";

  private @Nullable JsonObject first;
  private long completion;
  private long reasoning;

  void add(@Nullable JsonValue usage) {
    JsonObject counted = usage == null ? null : usage.object();
    if (counted == null) {
      return;
    }
    if (first == null) {
      first = counted;
    }
    completion += number(counted.value(COMPLETION));
    reasoning += number(counted.at(DETAILS, REASONING));
  }

  private static long number(@Nullable JsonValue value) {
    return value == null ? 0 : value.longValue(0);
  }

  /** Returns the total usage; null if the engine reported none. */
  byte @Nullable [] total() {
    if (first == null) {
      return null;
    }
    long prompt = number(first.value(PROMPT));
    JsonEdit edit = first.edit().set(COMPLETION, completion).set(TOTAL, prompt + completion);
    if (first.at(DETAILS, REASONING) != null) {
      edit.within(DETAILS).set(REASONING, reasoning);
    }
    return edit.toBytes();
  }
}
