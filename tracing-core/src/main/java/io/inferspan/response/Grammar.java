package io.inferspan.response;

/**
 * Which key leads from which place to which: OpenAI's chat completions, completions and responses,
 * Anthropic's messages, and what engines add to them.
 */
final class Grammar {

  private static final int SLOTS = 256;

  private static final long[] HASHES = new long[SLOTS];
  private static final int[] PLACES = new int[SLOTS];

  static {
    put(Place.ROOT, Place.CHOICES, "choices");
    put(Place.ROOT, Place.TYPE, "type");
    put(Place.ROOT, Place.KIND, "object");
    put(Place.ROOT, Place.EVENT_DELTA, "delta");
    put(Place.ROOT, Place.DOCUMENT, "response", "message");
    put(Place.ROOT, Place.ERROR_CODE, "code");
    document(Place.ROOT);
    document(Place.DOCUMENT);
    put(Place.INCOMPLETE, Place.REASON, "reason");

    put(Place.CHOICE, Place.INDEX, "index");
    put(Place.CHOICE, Place.DELTA, "delta");
    put(Place.CHOICE, Place.CONTENT, "text");
    put(Place.CHOICE, Place.TOKEN_IDS, "token_ids");
    put(Place.CHOICE, Place.CHOICE_REASON, "finish_reason");
    put(Place.DELTA, Place.CONTENT, "content", "reasoning_content", "reasoning", "refusal");
    put(Place.DELTA, Place.TOOL_CALLS, "tool_calls");
    put(Place.DELTA, Place.FUNCTION, "function_call");
    put(Place.TOOL_CALL, Place.FUNCTION, "function");
    put(Place.FUNCTION, Place.CONTENT, "name", "arguments");
    put(Place.EVENT_DELTA, Place.CONTENT, "text", "thinking", "partial_json");
    put(Place.EVENT_DELTA, Place.REASON, "stop_reason");

    put(Place.USAGE, Place.PROMPT, "prompt_tokens", "input_tokens");
    put(Place.USAGE, Place.COMPLETION, "completion_tokens", "output_tokens");
    put(Place.USAGE, Place.CACHE_READ, "cache_read_input_tokens");
    put(Place.USAGE, Place.CACHE_WRITTEN, "cache_creation_input_tokens");
    put(Place.USAGE, Place.REASONING, "reasoning_tokens");
    put(Place.USAGE, Place.USAGE_DETAILS, "prompt_tokens_details", "completion_tokens_details");
    put(Place.USAGE, Place.USAGE_DETAILS, "input_tokens_details", "output_tokens_details");
    put(Place.USAGE_DETAILS, Place.CACHED, "cached_tokens");
    put(Place.USAGE_DETAILS, Place.REASONING, "reasoning_tokens");

    put(Place.ERROR, Place.ERROR_TYPE, "type");
    put(Place.ERROR, Place.ERROR_CODE, "code");
    put(Place.TYPE, Place.END, "message_stop", "response.completed");
    put(Place.TYPE, Place.END, "response.incomplete", "response.failed");
    put(Place.TYPE, Place.FAILURE, "error");
    put(Place.KIND, Place.FAILURE, "error");
  }

  private Grammar() {}

  private static void document(int place) {
    put(place, Place.USAGE, "usage");
    put(place, Place.MODEL, "model");
    put(place, Place.STATUS, "status");
    put(place, Place.ERROR, "error");
    put(place, Place.REASON, "stop_reason");
    put(place, Place.INCOMPLETE, "incomplete_details");
  }

  private static void put(int from, int to, String... keys) {
    for (String key : keys) {
      long hash = joined(from, Word.numberOf(key));
      int slot = slot(hash);
      while (PLACES[slot] != 0) {
        slot = (slot + 1) % SLOTS;
      }
      HASHES[slot] = hash;
      PLACES[slot] = to;
    }
  }

  /** The place under a key, or what a word means; {@link Place#NOTHING} for any other. */
  static int find(int from, long word) {
    long hash = joined(from, word);
    int slot = slot(hash);
    while (HASHES[slot] != hash && PLACES[slot] != 0) {
      slot = (slot + 1) % SLOTS;
    }
    return PLACES[slot];
  }

  private static long joined(int from, long word) {
    return word ^ ((long) from << 56);
  }

  private static int slot(long hash) {
    return (int) (hash >>> 56);
  }
}
