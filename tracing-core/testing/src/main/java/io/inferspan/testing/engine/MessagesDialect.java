package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.named;
import static io.inferspan.testing.engine.ApiDialect.quoted;

import org.jspecify.annotations.Nullable;

/** The Anthropic messages API. Its {@code input_tokens} do not include cached tokens. */
final class MessagesDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "msg_";
  }

  @Override
  public String whole(Reply reply) {
    String more = reply.kvTransferParams() == null ? "" : ApiDialect.kvTransferParams(reply);
    return message(reply, text(reply.text()), stopReason(reply), reply.tokens(), more);
  }

  @Override
  public String preamble(Reply reply) {
    return named("message_start", ",\"message\":" + message(reply, "", null, 0, ""));
  }

  @Override
  public String opening(Reply reply) {
    return named("content_block_start", ",\"index\":0,\"content_block\":" + text(""));
  }

  private static String text(String text) {
    return "{\"type\":\"text\",\"text\":" + quoted(text) + "}";
  }

  @Override
  public String token(Reply reply, int index) {
    return named(
        "content_block_delta",
        """
        ,"index":0,"delta":{"type":"text_delta","text":%s}"""
            .formatted(quoted(reply.token(index))));
  }

  @Override
  public String closing(Reply reply) {
    String end =
        """
        ,"delta":{"stop_reason":%s,"stop_sequence":null}%s"""
            .formatted(quoted(stopReason(reply)), usage(reply, reply.tokens()));
    return named("content_block_stop", ",\"index\":0")
        + named("message_delta", end)
        + named("message_stop", "");
  }

  @Override
  public String failure(String message, int tokensSent) {
    return named("error", ",\"error\":" + errorFields(500, message));
  }

  @Override
  public String error(int status, String message) {
    return "{\"type\":\"error\",\"error\":" + errorFields(status, message) + "}";
  }

  private static String message(
      Reply reply, String content, @Nullable String stopReason, int outputTokens, String more) {
    return """
        {"id":%s,"type":"message","role":"assistant","model":%s,"content":[%s],\
        "stop_reason":%s,"stop_sequence":null%s%s}"""
        .formatted(
            quoted(reply.id()),
            quoted(reply.model()),
            content,
            quoted(stopReason),
            usage(reply, outputTokens),
            more);
  }

  private static String usage(Reply reply, int outputTokens) {
    if (!reply.hasUsage()) {
      return "";
    }
    int cached = reply.hasUsageDetails() ? reply.cachedTokens() : 0;
    String details = ",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":" + cached;
    return """
        ,"usage":{"input_tokens":%s%s,"output_tokens":%s}"""
        .formatted(
            Math.max(0, reply.promptTokens() - cached),
            reply.hasUsageDetails() ? details : "",
            outputTokens);
  }

  private static String errorFields(int status, String message) {
    String type =
        switch (status) {
          case 400 -> "invalid_request_error";
          case 401 -> "authentication_error";
          case 404 -> "not_found_error";
          case 429 -> "rate_limit_error";
          case 503, 529 -> "overloaded_error";
          default -> status < 500 ? "invalid_request_error" : "api_error";
        };
    return "{\"type\":\"" + type + "\",\"message\":" + quoted(message) + "}";
  }

  private static String stopReason(Reply reply) {
    return switch (reply.finishReason()) {
      case "stop" -> "end_turn";
      case "length" -> "max_tokens";
      case "tool_calls" -> "tool_use";
      default -> reply.finishReason();
    };
  }
}
