package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;

/** The Anthropic messages API. Its {@code input_tokens} do not include the cached ones. */
final class MessagesDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "msg_";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(
        g -> {
          writeHead(g, reply);
          g.writeArrayFieldStart("content");
          g.writeStartObject();
          g.writeStringField("type", "text");
          g.writeStringField("text", reply.text());
          g.writeEndObject();
          g.writeEndArray();
          g.writeStringField("stop_reason", stopReason(reply));
          g.writeNullField("stop_sequence");
          writeUsage(g, reply, reply.tokens());
          if (reply.kvTransferParams() != null) {
            ApiDialect.writeKvTransferParams(g, reply);
          }
          g.writeEndObject();
        });
  }

  @Override
  public Buffer preamble(Reply reply) {
    return named(
        "message_start",
        g -> {
          g.writeFieldName("message");
          writeHead(g, reply);
          g.writeArrayFieldStart("content");
          g.writeEndArray();
          g.writeNullField("stop_reason");
          g.writeNullField("stop_sequence");
          writeUsage(g, reply, 0);
          g.writeEndObject();
        });
  }

  @Override
  public Buffer opening(Reply reply) {
    return named(
        "content_block_start",
        g -> {
          g.writeNumberField("index", 0);
          g.writeObjectFieldStart("content_block");
          g.writeStringField("type", "text");
          g.writeStringField("text", "");
          g.writeEndObject();
        });
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return named(
        "content_block_delta",
        g -> {
          g.writeNumberField("index", 0);
          g.writeObjectFieldStart("delta");
          g.writeStringField("type", "text_delta");
          g.writeStringField("text", reply.token(index));
          g.writeEndObject();
        });
  }

  @Override
  public Buffer closing(Reply reply) {
    Buffer events = named("content_block_stop", g -> g.writeNumberField("index", 0));
    events.appendBuffer(
        named(
            "message_delta",
            g -> {
              g.writeObjectFieldStart("delta");
              g.writeStringField("stop_reason", stopReason(reply));
              g.writeNullField("stop_sequence");
              g.writeEndObject();
              writeUsage(g, reply, reply.tokens());
            }));
    return events.appendBuffer(named("message_stop", g -> {}));
  }

  @Override
  public Buffer failure(String message, int tokensSent) {
    return named("error", g -> writeErrorFields(g, 500, message));
  }

  @Override
  public Buffer error(int status, String message) {
    return ApiDialect.json(
        g -> {
          g.writeStartObject();
          g.writeStringField("type", "error");
          writeErrorFields(g, status, message);
          g.writeEndObject();
        });
  }

  /** An event whose name is repeated as its type. */
  private static Buffer named(String type, JsonWriting fields) {
    return ApiDialect.named(
        type,
        g -> {
          g.writeStartObject();
          g.writeStringField("type", type);
          fields.to(g);
          g.writeEndObject();
        });
  }

  private static void writeHead(JsonGenerator g, Reply reply) throws IOException {
    g.writeStartObject();
    g.writeStringField("id", reply.id());
    g.writeStringField("type", "message");
    g.writeStringField("role", "assistant");
    g.writeStringField("model", reply.model());
  }

  private static void writeUsage(JsonGenerator g, Reply reply, int outputTokens)
      throws IOException {
    if (!reply.hasUsage()) {
      return;
    }
    int cached = reply.hasUsageDetails() ? reply.cachedTokens() : 0;
    g.writeObjectFieldStart("usage");
    g.writeNumberField("input_tokens", Math.max(0, reply.promptTokens() - cached));
    if (reply.hasUsageDetails()) {
      g.writeNumberField("cache_creation_input_tokens", 0);
      g.writeNumberField("cache_read_input_tokens", cached);
    }
    g.writeNumberField("output_tokens", outputTokens);
    g.writeEndObject();
  }

  private static void writeErrorFields(JsonGenerator g, int status, String message)
      throws IOException {
    g.writeObjectFieldStart("error");
    g.writeStringField("type", errorType(status));
    g.writeStringField("message", message);
    g.writeEndObject();
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
