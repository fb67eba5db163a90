package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The OpenAI completions API. */
final class CompletionsDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "cmpl-";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(
        g -> {
          writeHead(g, reply);
          writeChoice(g, reply.text(), reply.finishReason());
          if (reply.hasUsage()) {
            ApiDialect.writeUsage(g, reply);
          }
          ApiDialect.writeKvTransferParams(g, reply);
          g.writeEndObject();
        });
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return chunk(reply, reply.token(index), null);
  }

  @Override
  public Buffer closing(Reply reply) {
    Buffer events = chunk(reply, "", reply.finishReason());
    if (reply.call().includeUsage() && reply.hasUsage()) {
      events.appendBuffer(usageChunk(reply));
    }
    return events.appendString("data: [DONE]\n\n");
  }

  private static Buffer chunk(Reply reply, String text, @Nullable String finishReason) {
    return ApiDialect.data(
        g -> {
          writeHead(g, reply);
          writeChoice(g, text, finishReason);
          g.writeEndObject();
        });
  }

  private static Buffer usageChunk(Reply reply) {
    return ApiDialect.data(
        g -> {
          writeHead(g, reply);
          g.writeArrayFieldStart("choices");
          g.writeEndArray();
          ApiDialect.writeUsage(g, reply);
          g.writeEndObject();
        });
  }

  private static void writeHead(JsonGenerator g, Reply reply) throws IOException {
    g.writeStartObject();
    g.writeStringField("id", reply.id());
    g.writeStringField("object", "text_completion");
    g.writeNumberField("created", reply.createdSeconds());
    g.writeStringField("model", reply.model());
  }

  private static void writeChoice(JsonGenerator g, String text, @Nullable String finishReason)
      throws IOException {
    g.writeArrayFieldStart("choices");
    g.writeStartObject();
    g.writeNumberField("index", 0);
    g.writeStringField("text", text);
    g.writeNullField("logprobs");
    g.writeStringField("finish_reason", finishReason);
    g.writeNullField("stop_reason");
    g.writeEndObject();
    g.writeEndArray();
  }
}
