package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** vLLM's API that takes and gives token ids: token number i of an answer has the id i. */
final class GenerateDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "generate-tokens-";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(
        g -> {
          writeChoice(g, reply, new int[] {0, reply.tokens()}, reply.finishReason());
          g.writeNullField("prompt_logprobs");
          if (reply.hasUsage()) {
            ApiDialect.writeUsage(g, reply);
          }
          ApiDialect.writeKvTransferParams(g, reply);
          g.writeEndObject();
        });
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return chunk(reply, new int[] {index, index + 1}, null);
  }

  @Override
  public Buffer closing(Reply reply) {
    return chunk(reply, new int[] {0, 0}, reply.finishReason()).appendString("data: [DONE]\n\n");
  }

  private static Buffer chunk(Reply reply, int[] range, @Nullable String finishReason) {
    return ApiDialect.data(
        g -> {
          writeChoice(g, reply, range, finishReason);
          g.writeEndObject();
        });
  }

  private static void writeChoice(
      JsonGenerator g, Reply reply, int[] range, @Nullable String finishReason) throws IOException {
    g.writeStartObject();
    g.writeStringField("request_id", reply.id());
    g.writeArrayFieldStart("choices");
    g.writeStartObject();
    g.writeNumberField("index", 0);
    g.writeNullField("logprobs");
    g.writeStringField("finish_reason", finishReason);
    g.writeArrayFieldStart("token_ids");
    for (int id = range[0]; id < range[1]; id++) {
      g.writeNumber(id);
    }
    g.writeEndArray();
    g.writeEndObject();
    g.writeEndArray();
  }
}
