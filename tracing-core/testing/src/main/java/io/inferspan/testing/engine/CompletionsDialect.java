package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.object;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The OpenAI completions API. */
final class CompletionsDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "cmpl-";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.ended(chunk(reply, reply.text(), reply.finishReason()), reply);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return ApiDialect.data(chunk(reply, reply.token(index), null));
  }

  @Override
  public Buffer closing(Reply reply) {
    Buffer end = ApiDialect.data(chunk(reply, "", reply.finishReason()));
    return ApiDialect.closed(end, reply, chunk(reply, "", null));
  }

  private static Map<String, @Nullable Object> chunk(
      Reply reply, String text, @Nullable String finishReason) {
    Map<String, @Nullable Object> choice = object("index", 0, "text", text, "logprobs", null);
    choice.put("finish_reason", finishReason);
    choice.put("stop_reason", null);
    Map<String, @Nullable Object> chunk = object("id", reply.id(), "object", "text_completion");
    chunk.put("created", reply.createdSeconds());
    chunk.put("model", reply.model());
    chunk.put("choices", List.of(choice));
    return chunk;
  }
}
