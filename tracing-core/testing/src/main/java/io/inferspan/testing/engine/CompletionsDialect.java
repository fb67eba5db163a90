package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.quoted;

import org.jspecify.annotations.Nullable;

/** The OpenAI completions API. */
final class CompletionsDialect implements ApiDialect {
  private static final String OBJECT = "text_completion";

  @Override
  public String idPrefix() {
    return "cmpl-";
  }

  @Override
  public String whole(Reply reply) {
    return part(reply, reply.text(), reply.finishReason(), ApiDialect.ending(reply));
  }

  @Override
  public String token(Reply reply, int index) {
    return ApiDialect.data(part(reply, reply.token(index), null, ""));
  }

  @Override
  public String closing(Reply reply) {
    return ApiDialect.data(part(reply, "", reply.finishReason(), ""))
        + ApiDialect.closed(reply, OBJECT);
  }

  private static String part(Reply reply, String text, @Nullable String finishReason, String more) {
    String choice =
        """
        {"index":0,"text":%s,"logprobs":null,"finish_reason":%s,"stop_reason":null}"""
            .formatted(quoted(text), quoted(finishReason));
    return ApiDialect.completion(reply, OBJECT, choice, more);
  }
}
