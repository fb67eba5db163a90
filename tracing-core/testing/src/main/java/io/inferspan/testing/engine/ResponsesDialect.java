package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;

/**
 * The OpenAI responses API. A stream ends with {@code response.completed}, or with {@code
 * response.incomplete} when the limit on output tokens cut it.
 */
final class ResponsesDialect implements ApiDialect {
  /**
   * The sequence number of the first token: created, in_progress, item added and part added come
   * before it.
   */
  private static final int FIRST_TOKEN = 4;

  @Override
  public String idPrefix() {
    return "resp_";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(g -> writeResponse(g, reply, endStatus(reply)));
  }

  @Override
  public Buffer preamble(Reply reply) {
    return lifecycle(reply, "response.created", 0, "in_progress")
        .appendBuffer(lifecycle(reply, "response.in_progress", 1, "in_progress"));
  }

  @Override
  public Buffer opening(Reply reply) {
    Buffer added =
        named(
            "response.output_item.added",
            2,
            g -> {
              g.writeNumberField("output_index", 0);
              g.writeFieldName("item");
              writeItem(g, reply, "in_progress");
            });
    Buffer part =
        named("response.content_part.added", 3, g -> writePartFields(g, itemId(reply), ""));
    return added.appendBuffer(part);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return named(
        "response.output_text.delta",
        FIRST_TOKEN + index,
        g -> {
          writePlace(g, itemId(reply));
          g.writeStringField("delta", reply.token(index));
          g.writeArrayFieldStart("logprobs");
          g.writeEndArray();
        });
  }

  @Override
  public Buffer closing(Reply reply) {
    int next = FIRST_TOKEN + reply.tokens();
    Buffer text =
        named(
            "response.output_text.done",
            next,
            g -> {
              writePlace(g, itemId(reply));
              g.writeStringField("text", reply.text());
            });
    Buffer part =
        named(
            "response.content_part.done",
            next + 1,
            g -> writePartFields(g, itemId(reply), reply.text()));
    Buffer item =
        named(
            "response.output_item.done",
            next + 2,
            g -> {
              g.writeNumberField("output_index", 0);
              g.writeFieldName("item");
              writeItem(g, reply, endStatus(reply));
            });
    String status = endStatus(reply);
    return text.appendBuffer(part)
        .appendBuffer(item)
        .appendBuffer(lifecycle(reply, "response." + status, next + 3, status));
  }

  @Override
  public Buffer failure(String message, int tokensSent) {
    int sequence = tokensSent == 0 ? 2 : FIRST_TOKEN + tokensSent;
    return named(
        "error",
        sequence,
        g -> {
          g.writeStringField("code", "server_error");
          g.writeStringField("message", message);
          g.writeNullField("param");
        });
  }

  /** An event whose name is repeated as its type and that has its place in the order. */
  private static Buffer named(String type, int sequence, JsonWriting fields) {
    return ApiDialect.named(
        type,
        g -> {
          g.writeStartObject();
          g.writeStringField("type", type);
          g.writeNumberField("sequence_number", sequence);
          fields.to(g);
          g.writeEndObject();
        });
  }

  private static Buffer lifecycle(Reply reply, String type, int sequence, String status) {
    return named(
        type,
        sequence,
        g -> {
          g.writeFieldName("response");
          writeResponse(g, reply, status);
        });
  }

  private static void writeResponse(JsonGenerator g, Reply reply, String status)
      throws IOException {
    boolean ended = !status.equals("in_progress");
    g.writeStartObject();
    g.writeStringField("id", reply.id());
    g.writeStringField("object", "response");
    g.writeNumberField("created_at", reply.createdSeconds());
    g.writeStringField("model", reply.model());
    g.writeStringField("status", status);
    writeIncompleteDetails(g, reply, status);
    g.writeArrayFieldStart("output");
    if (ended) {
      writeItem(g, reply, status);
    }
    g.writeEndArray();
    if (ended && reply.hasUsage()) {
      writeUsage(g, reply);
    } else {
      g.writeNullField("usage");
    }
    if (ended) {
      ApiDialect.writeKvTransferParams(g, reply);
    }
    g.writeEndObject();
  }

  private static void writeIncompleteDetails(JsonGenerator g, Reply reply, String status)
      throws IOException {
    if (!status.equals("incomplete")) {
      g.writeNullField("incomplete_details");
      return;
    }
    boolean cut = reply.finishReason().equals("length");
    g.writeObjectFieldStart("incomplete_details");
    g.writeStringField("reason", cut ? "max_output_tokens" : reply.finishReason());
    g.writeEndObject();
  }

  private static void writeItem(JsonGenerator g, Reply reply, String status) throws IOException {
    g.writeStartObject();
    g.writeStringField("id", itemId(reply));
    g.writeStringField("type", "message");
    g.writeStringField("role", "assistant");
    g.writeStringField("status", status);
    g.writeArrayFieldStart("content");
    if (!status.equals("in_progress")) {
      writePart(g, reply.text());
    }
    g.writeEndArray();
    g.writeEndObject();
  }

  private static void writePartFields(JsonGenerator g, String itemId, String text)
      throws IOException {
    writePlace(g, itemId);
    g.writeFieldName("part");
    writePart(g, text);
  }

  private static void writePart(JsonGenerator g, String text) throws IOException {
    g.writeStartObject();
    g.writeStringField("type", "output_text");
    g.writeStringField("text", text);
    g.writeArrayFieldStart("annotations");
    g.writeEndArray();
    g.writeEndObject();
  }

  private static void writePlace(JsonGenerator g, String itemId) throws IOException {
    g.writeStringField("item_id", itemId);
    g.writeNumberField("output_index", 0);
    g.writeNumberField("content_index", 0);
  }

  private static void writeUsage(JsonGenerator g, Reply reply) throws IOException {
    g.writeObjectFieldStart("usage");
    g.writeNumberField("input_tokens", reply.promptTokens());
    if (reply.hasUsageDetails()) {
      g.writeObjectFieldStart("input_tokens_details");
      g.writeNumberField("cached_tokens", reply.cachedTokens());
      g.writeEndObject();
    }
    g.writeNumberField("output_tokens", reply.tokens());
    g.writeObjectFieldStart("output_tokens_details");
    g.writeNumberField("reasoning_tokens", 0);
    g.writeEndObject();
    g.writeNumberField("total_tokens", reply.promptTokens() + reply.tokens());
    g.writeEndObject();
  }

  private static String itemId(Reply reply) {
    return "msg_" + reply.id();
  }

  private static String endStatus(Reply reply) {
    return reply.finishReason().equals("stop") ? "completed" : "incomplete";
  }
}
