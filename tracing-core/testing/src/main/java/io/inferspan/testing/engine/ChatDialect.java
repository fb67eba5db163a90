package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.quoted;

import org.jspecify.annotations.Nullable;

/** The OpenAI chat completions API. */
final class ChatDialect implements ApiDialect {
  private static final String CHUNK = "chat.completion.chunk";

  @Override
  public String idPrefix() {
    return "chatcmpl-";
  }

  @Override
  public String whole(Reply reply) {
    String choice =
        """
        {"index":0,"message":{"role":"assistant","content":%s},"logprobs":null,\
        "finish_reason":%s,"stop_reason":null}"""
            .formatted(quoted(reply.text()), quoted(reply.finishReason()));
    return ApiDialect.completion(reply, "chat.completion", choice, ApiDialect.ending(reply));
  }

  @Override
  public String opening(Reply reply) {
    return chunk(reply, "\"role\":\"assistant\",\"content\":\"\"", null);
  }

  @Override
  public String token(Reply reply, int index) {
    return chunk(reply, "\"content\":" + quoted(reply.token(index)), null);
  }

  @Override
  public String closing(Reply reply) {
    return chunk(reply, "", reply.finishReason()) + ApiDialect.closed(reply, CHUNK);
  }

  private static String chunk(Reply reply, String delta, @Nullable String finishReason) {
    String choice =
        """
        {"index":0,"delta":{%s},"logprobs":null,"finish_reason":%s}"""
            .formatted(delta, quoted(finishReason));
    return ApiDialect.data(ApiDialect.completion(reply, CHUNK, choice, ""));
  }
}
