package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.quoted;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** vLLM's API for token ids; the i-th token of a response has the id i. */
final class GenerateDialect implements ApiDialect {
  @Override
  public String idPrefix() {
    return "generate-tokens-";
  }

  @Override
  public String whole(Reply reply) {
    String ids =
        IntStream.range(0, reply.tokens())
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(","));
    return part(
        reply, ids, reply.finishReason(), ",\"prompt_logprobs\":null" + ApiDialect.ending(reply));
  }

  @Override
  public String token(Reply reply, int index) {
    return ApiDialect.data(part(reply, Integer.toString(index), null, ""));
  }

  @Override
  public String closing(Reply reply) {
    return ApiDialect.data(part(reply, "", reply.finishReason(), "")) + DONE;
  }

  private static String part(Reply reply, String ids, @Nullable String finishReason, String more) {
    return """
        {"request_id":%s,"choices":[{"index":0,"logprobs":null,"finish_reason":%s,\
        "token_ids":[%s]}]%s}"""
        .formatted(quoted(reply.id()), quoted(finishReason), ids, more);
  }
}
