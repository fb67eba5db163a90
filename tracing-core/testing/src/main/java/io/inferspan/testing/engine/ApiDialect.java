package io.inferspan.testing.engine;

import io.vertx.core.json.Json;
import org.jspecify.annotations.Nullable;

/**
 * The response format of one API: a JSON body, or a stream of events. The methods for a stream are
 * declared in the order in which their events are sent.
 */
interface ApiDialect {
  String DONE = "data: [DONE]\n\n";

  /** Returns the prefix of response ids. */
  String idPrefix();

  /** Returns the body of a response that is not streamed. */
  String whole(Reply reply);

  /** Returns the events that are sent with the headers. */
  default String preamble(Reply reply) {
    return "";
  }

  /** Returns the events that are sent immediately before the first token. */
  default String opening(Reply reply) {
    return "";
  }

  /** Returns the event for one token. */
  String token(Reply reply, int index);

  /** Returns the events after the last token. */
  String closing(Reply reply);

  /** Returns the last events of a stream that fails after some tokens. */
  default String failure(String message, int tokensSent) {
    return data(error(500, message)) + DONE;
  }

  /** Returns the body of an error response; by default the one of vLLM's OpenAI APIs. */
  default String error(int status, String message) {
    String type =
        switch (status) {
          case 400 -> "BadRequestError";
          case 401 -> "AuthenticationError";
          case 404 -> "NotFoundError";
          case 429 -> "RateLimitError";
          case 503 -> "ServiceUnavailableError";
          default -> status < 500 ? "BadRequestError" : "InternalServerError";
        };
    return """
        {"error":{"message":%s,"type":"%s","param":null,"code":%s}}"""
        .formatted(quoted(message), type, status);
  }

  /** Returns a JSON string, or {@code null}. */
  static String quoted(@Nullable String text) {
    return Json.encode(text);
  }

  /** Returns a server-sent event without a name. */
  static String data(String json) {
    return "data: " + json + "\n\n";
  }

  /** Returns a server-sent event with a name, which is also the {@code type} of its JSON object. */
  static String named(String type, String members) {
    return """
        event: %s
        data: {"type":"%s"%s}

        """
        .formatted(type, type, members);
  }

  /** Returns a response, or a piece of it, of chat or completions. */
  static String completion(Reply reply, String object, String choices, String more) {
    return """
        {"id":%s,"object":"%s","created":%s,"model":%s,"choices":[%s]%s}"""
        .formatted(
            quoted(reply.id()),
            object,
            reply.createdSeconds(),
            quoted(reply.model()),
            choices,
            more);
  }

  /** Returns the last members of a complete response of chat, completions or generate. */
  static String ending(Reply reply) {
    return (reply.hasUsage() ? usage(reply) : "") + kvTransferParams(reply);
  }

  /** Returns the last events of chat and completions: usage if requested, {@code [DONE]}. */
  static String closed(Reply reply, String object) {
    boolean usage = reply.call().includeUsage() && reply.hasUsage();
    return (usage ? data(completion(reply, object, "", usage(reply))) : "") + DONE;
  }

  private static String usage(Reply reply) {
    String details =
        reply.hasUsageDetails() ? "{\"cached_tokens\":" + reply.cachedTokens() + "}" : "null";
    return """
        ,"usage":{"prompt_tokens":%s,"total_tokens":%s,"completion_tokens":%s,\
        "prompt_tokens_details":%s}"""
        .formatted(
            reply.promptTokens(), reply.promptTokens() + reply.tokens(), reply.tokens(), details);
  }

  /** Returns the KV transfer parameters; null if the response has none, as in vLLM. */
  static String kvTransferParams(Reply reply) {
    return ",\"kv_transfer_params\":" + reply.kvTransferParams();
  }
}
