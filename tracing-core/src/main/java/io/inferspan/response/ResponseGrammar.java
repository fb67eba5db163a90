package io.inferspan.response;

import io.inferspan.json.Grammar;
import io.inferspan.json.NodeType;

/**
 * The grammar of OpenAI's chat completions, completions and responses and of Anthropic's messages,
 * with the extensions of engines.
 */
final class ResponseGrammar {

  static final Grammar GRAMMAR =
      new Grammar()
          .elements(Node.TOKEN_IDS, Node.TOKEN_ID)
          .elements(Node.PARTS, Node.PART)
          .elements(Node.DONE_LIST, Node.DONE)
          .rootList(Node.DONE_LIST);

  static {
    put(Node.ROOT, Node.CHOICES, "choices");
    put(Node.ROOT, Node.TYPE, "type");
    put(Node.ROOT, Node.KIND, "object");
    put(Node.ROOT, Node.EVENT_DELTA, "delta");
    put(Node.ROOT, Node.DOCUMENT, "response", "message");
    put(Node.ROOT, Node.ERROR_CODE, "code");
    document(Node.ROOT);
    document(Node.DOCUMENT);
    put(Node.INCOMPLETE, Node.REASON, "reason");

    put(Node.CHOICE, Node.INDEX, "index");
    put(Node.CHOICE, Node.DELTA, "delta");
    put(Node.CHOICE, NodeType.CONTENT, "text");
    put(Node.CHOICE, Node.TOKEN_IDS, "token_ids");
    put(Node.CHOICE, Node.CHOICE_REASON, "finish_reason");
    put(Node.DELTA, Node.PARTS, "content");
    put(Node.DELTA, NodeType.CONTENT, "reasoning_content", "reasoning", "refusal");
    put(Node.PART, NodeType.CONTENT, "text");
    put(Node.PART, Node.THOUGHTS, "thinking");
    put(Node.THOUGHT, NodeType.CONTENT, "text");
    put(Node.DELTA, Node.TOOL_CALLS, "tool_calls");
    put(Node.DELTA, Node.FUNCTION, "function_call");
    put(Node.TOOL_CALL, Node.FUNCTION, "function");
    put(Node.FUNCTION, NodeType.CONTENT, "name", "arguments");
    put(Node.EVENT_DELTA, NodeType.CONTENT, "text", "thinking", "partial_json");
    put(Node.EVENT_DELTA, Node.REASON, "stop_reason");

    put(Node.USAGE, Node.PROMPT, "prompt_tokens", "input_tokens");
    put(Node.USAGE, Node.COMPLETION, "completion_tokens", "output_tokens");
    put(Node.USAGE, Node.CACHE_READ, "cache_read_input_tokens");
    put(Node.USAGE, Node.CACHE_WRITTEN, "cache_creation_input_tokens");
    put(Node.USAGE, Node.REASONING, "reasoning_tokens");
    put(Node.USAGE, Node.USAGE_DETAILS, "prompt_tokens_details", "completion_tokens_details");
    put(Node.USAGE, Node.USAGE_DETAILS, "input_tokens_details", "output_tokens_details");
    put(Node.USAGE_DETAILS, Node.CACHED, "cached_tokens");
    put(Node.USAGE_DETAILS, Node.REASONING, "reasoning_tokens");

    put(Node.ERROR, Node.ERROR_TYPE, "type");
    put(Node.ERROR, Node.ERROR_CODE, "code");
    put(Node.TYPE, Node.END, "message_stop", "response.completed");
    put(Node.TYPE, Node.END, "response.incomplete", "response.failed");
    put(Node.TYPE, Node.FAILURE, "error");
    put(Node.KIND, Node.FAILURE, "error");
  }

  private ResponseGrammar() {}

  private static void document(int node) {
    put(node, Node.USAGE, "usage");
    put(node, Node.MODEL, "model");
    put(node, Node.STATUS, "status");
    put(node, Node.ERROR, "error");
    put(node, Node.REASON, "stop_reason");
    put(node, Node.INCOMPLETE, "incomplete_details");
  }

  private static void put(int from, int to, String... keys) {
    GRAMMAR.put(from, to, keys);
  }
}
