package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The OpenAI chat completions API. */
final class ChatDialect implements ApiDialect {
  /** Writes the fields of one delta. */
  private interface Delta {
    void to(JsonGenerator generator) throws IOException;
  }

  @Override
  public String idPrefix() {
    return "chatcmpl-";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(
        g -> {
          writeHead(g, reply, "chat.completion");
          g.writeArrayFieldStart("choices");
          g.writeStartObject();
          g.writeNumberField("index", 0);
          g.writeObjectFieldStart("message");
          g.writeStringField("role", "assistant");
          g.writeStringField("content", reply.text());
          g.writeEndObject();
          g.writeNullField("logprobs");
          g.writeStringField("finish_reason", reply.finishReason());
          g.writeNullField("stop_reason");
          g.writeEndObject();
          g.writeEndArray();
          if (reply.hasUsage()) {
            ApiDialect.writeUsage(g, reply);
          }
          ApiDialect.writeKvTransferParams(g, reply);
          g.writeEndObject();
        });
  }

  @Override
  public Buffer opening(Reply reply) {
    Delta role =
        g -> {
          g.writeStringField("role", "assistant");
          g.writeStringField("content", "");
        };
    return chunk(reply, role, null);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return chunk(reply, g -> g.writeStringField("content", reply.token(index)), null);
  }

  @Override
  public Buffer closing(Reply reply) {
    Buffer events = chunk(reply, g -> {}, reply.finishReason());
    if (reply.call().includeUsage() && reply.hasUsage()) {
      events.appendBuffer(usageChunk(reply));
    }
    return events.appendString("data: [DONE]\n\n");
  }

  private static Buffer chunk(Reply reply, Delta delta, @Nullable String finishReason) {
    return ApiDialect.data(
        g -> {
          writeHead(g, reply, "chat.completion.chunk");
          g.writeArrayFieldStart("choices");
          g.writeStartObject();
          g.writeNumberField("index", 0);
          g.writeObjectFieldStart("delta");
          delta.to(g);
          g.writeEndObject();
          g.writeNullField("logprobs");
          g.writeStringField("finish_reason", finishReason);
          g.writeEndObject();
          g.writeEndArray();
          g.writeEndObject();
        });
  }

  private static Buffer usageChunk(Reply reply) {
    return ApiDialect.data(
        g -> {
          writeHead(g, reply, "chat.completion.chunk");
          g.writeArrayFieldStart("choices");
          g.writeEndArray();
          ApiDialect.writeUsage(g, reply);
          g.writeEndObject();
        });
  }

  private static void writeHead(JsonGenerator g, Reply reply, String object) throws IOException {
    g.writeStartObject();
    g.writeStringField("id", reply.id());
    g.writeStringField("object", object);
    g.writeNumberField("created", reply.createdSeconds());
    g.writeStringField("model", reply.model());
  }
}
