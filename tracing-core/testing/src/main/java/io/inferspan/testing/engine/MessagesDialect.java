package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.named;
import static io.inferspan.testing.engine.ApiDialect.object;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The Anthropic messages API. Its {@code input_tokens} do not include cached tokens. */
final class MessagesDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "msg_";
  }

  @Override
  public Buffer whole(Reply reply) {
    Map<String, @Nullable Object> whole =
        message(reply, List.of(text(reply.text())), stopReason(reply), reply.tokens());
    if (reply.kvTransferParams() != null) {
      whole.put("kv_transfer_params", ApiDialect.kvTransferParams(reply));
    }
    return ApiDialect.json(whole);
  }

  @Override
  public Buffer preamble(Reply reply) {
    return named("message_start", object("message", message(reply, List.of(), null, 0)));
  }

  @Override
  public Buffer opening(Reply reply) {
    return named("content_block_start", object("index", 0, "content_block", text("")));
  }

  private static Object text(String text) {
    return object("type", "text", "text", text);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    Object delta = object("type", "text_delta", "text", reply.token(index));
    return named("content_block_delta", object("index", 0, "delta", delta));
  }

  @Override
  public Buffer closing(Reply reply) {
    Map<String, @Nullable Object> end =
        object("delta", object("stop_reason", stopReason(reply), "stop_sequence", null));
    addUsage(end, reply, reply.tokens());
    return named("content_block_stop", object("index", 0))
        .appendBuffer(named("message_delta", end))
        .appendBuffer(named("message_stop", object()));
  }

  @Override
  public Buffer failure(String message, int tokensSent) {
    return named("error", object("error", errorFields(500, message)));
  }

  @Override
  public Buffer error(int status, String message) {
    return ApiDialect.json(object("type", "error", "error", errorFields(status, message)));
  }

  private static Map<String, @Nullable Object> message(
      Reply reply, List<?> content, @Nullable String stopReason, int outputTokens) {
    Map<String, @Nullable Object> message = object("id", reply.id(), "type", "message");
    message.put("role", "assistant");
    message.put("model", reply.model());
    message.put("content", content);
    message.put("stop_reason", stopReason);
    message.put("stop_sequence", null);
    addUsage(message, reply, outputTokens);
    return message;
  }

  private static void addUsage(
      Map<String, @Nullable Object> message, Reply reply, int outputTokens) {
    if (!reply.hasUsage()) {
      return;
    }
    int cached = reply.hasUsageDetails() ? reply.cachedTokens() : 0;
    Map<String, @Nullable Object> usage =
        object("input_tokens", Math.max(0, reply.promptTokens() - cached));
    if (reply.hasUsageDetails()) {
      usage.put("cache_creation_input_tokens", 0);
      usage.put("cache_read_input_tokens", cached);
    }
    usage.put("output_tokens", outputTokens);
    message.put("usage", usage);
  }

  private static Object errorFields(int status, String message) {
    return object("type", errorType(status), "message", message);
  }

  private static String errorType(int status) {
    return switch (status) {
      case 400 -> "invalid_request_error";
      case 401 -> "authentication_error";
      case 404 -> "not_found_error";
      case 429 -> "rate_limit_error";
      case 503, 529 -> "overloaded_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
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
