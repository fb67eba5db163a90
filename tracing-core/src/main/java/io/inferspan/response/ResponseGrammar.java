package io.inferspan.response;

import io.inferspan.json.Grammar;
import io.inferspan.json.Places;

/**
 * The grammar of OpenAI's chat completions, completions and responses and of Anthropic's messages,
 * with the extensions of engines.
 */
final class ResponseGrammar {

  static final Grammar GRAMMAR =
      new Grammar()
          .elements(Place.TOKEN_IDS, Place.TOKEN_ID)
          .elements(Place.MARKS, Place.MARK)
          .rootList(Place.MARKS);

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
    put(Place.CHOICE, Places.CONTENT, "text");
    put(Place.CHOICE, Place.TOKEN_IDS, "token_ids");
    put(Place.CHOICE, Place.CHOICE_REASON, "finish_reason");
    put(Place.DELTA, Places.CONTENT, "content", "reasoning_content", "reasoning", "refusal");
    put(Place.DELTA, Place.TOOL_CALLS, "tool_calls");
    put(Place.DELTA, Place.FUNCTION, "function_call");
    put(Place.TOOL_CALL, Place.FUNCTION, "function");
    put(Place.FUNCTION, Places.CONTENT, "name", "arguments");
    put(Place.EVENT_DELTA, Places.CONTENT, "text", "thinking", "partial_json");
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

  private ResponseGrammar() {}

  private static void document(int place) {
    put(place, Place.USAGE, "usage");
    put(place, Place.MODEL, "model");
    put(place, Place.STATUS, "status");
    put(place, Place.ERROR, "error");
    put(place, Place.REASON, "stop_reason");
    put(place, Place.INCOMPLETE, "incomplete_details");
  }

  private static void put(int from, int to, String... keys) {
    GRAMMAR.put(from, to, keys);
  }
}
