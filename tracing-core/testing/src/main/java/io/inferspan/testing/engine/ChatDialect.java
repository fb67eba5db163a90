package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.object;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The OpenAI chat completions API. */
final class ChatDialect implements ApiDialect {
  private static final String CHUNK = "chat.completion.chunk";

  @Override
  public String idPrefix() {
    return "chatcmpl-";
  }

  @Override
  public Buffer whole(Reply reply) {
    Map<String, @Nullable Object> choice =
        choice("message", object("role", "assistant", "content", reply.text()));
    choice.put("finish_reason", reply.finishReason());
    choice.put("stop_reason", null);
    Map<String, @Nullable Object> whole = head(reply, "chat.completion");
    whole.put("choices", List.of(choice));
    return ApiDialect.ended(whole, reply);
  }

  @Override
  public Buffer opening(Reply reply) {
    return chunk(reply, object("role", "assistant", "content", ""), null);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return chunk(reply, object("content", reply.token(index)), null);
  }

  @Override
  public Buffer closing(Reply reply) {
    Buffer end = chunk(reply, object(), reply.finishReason());
    return ApiDialect.closed(end, reply, head(reply, CHUNK));
  }

  private static Buffer chunk(
      Reply reply, Map<String, @Nullable Object> delta, @Nullable String finishReason) {
    Map<String, @Nullable Object> choice = choice("delta", delta);
    choice.put("finish_reason", finishReason);
    Map<String, @Nullable Object> chunk = head(reply, CHUNK);
    chunk.put("choices", List.of(choice));
    return ApiDialect.data(chunk);
  }

  private static Map<String, @Nullable Object> choice(String name, Object value) {
    return object("index", 0, name, value, "logprobs", null);
  }

  private static Map<String, @Nullable Object> head(Reply reply, String object) {
    return object(
        "id",
        reply.id(),
        "object",
        object,
        "created",
        reply.createdSeconds(),
        "model",
        reply.model());
  }
}
