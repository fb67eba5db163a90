package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.object;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** vLLM's API for token ids; the i-th token of a response has the id i. */
final class GenerateDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "generate-tokens-";
  }

  @Override
  public Buffer whole(Reply reply) {
    IntStream ids = IntStream.range(0, reply.tokens());
    Map<String, @Nullable Object> whole = chunk(reply, ids, reply.finishReason());
    whole.put("prompt_logprobs", null);
    return ApiDialect.ended(whole, reply);
  }

  @Override
  public Buffer token(Reply reply, int index) {
    return ApiDialect.data(chunk(reply, IntStream.of(index), null));
  }

  @Override
  public Buffer closing(Reply reply) {
    return ApiDialect.data(chunk(reply, IntStream.empty(), reply.finishReason()))
        .appendString("data: [DONE]\n\n");
  }

  private static Map<String, @Nullable Object> chunk(
      Reply reply, IntStream ids, @Nullable String finishReason) {
    Map<String, @Nullable Object> choice = object("index", 0, "logprobs", null);
    choice.put("finish_reason", finishReason);
    choice.put("token_ids", ids.boxed().toList());
    return object("request_id", reply.id(), "choices", List.of(choice));
  }
}
