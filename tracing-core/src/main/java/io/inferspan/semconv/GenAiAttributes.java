package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;
import static io.inferspan.semconv.Attribute.texts;
import static io.opentelemetry.api.common.AttributeKey.doubleKey;
import static io.opentelemetry.api.common.AttributeKey.longKey;

import java.util.List;

/**
 * Attributes of the GenAI conventions, and those that inference engines write beside them.
 *
 * <p>The current keys follow semantic conventions 1.41; a test compares them with the published
 * constants.
 */
public final class GenAiAttributes {

  public static final Attribute<String> OPERATION =
      text("gen_ai.operation.name", "What was asked for: chat, text_completion, embeddings.");

  public static final Attribute<String> PROVIDER =
      text("gen_ai.provider.name", "Who serves the model.");

  public static final Attribute<String> REQUEST_MODEL =
      text("gen_ai.request.model", "The model that the client named.").omittedWhenEmpty();

  public static final Attribute<String> REQUEST_ID =
      text("gen_ai.request.id", "The id of the request, as the engine logs it.").omittedWhenEmpty();

  public static final Attribute<Long> REQUEST_MAX_TOKENS =
      count("gen_ai.request.max_tokens", "The most tokens the client wants back.");

  public static final Attribute<Double> REQUEST_TEMPERATURE =
      number("gen_ai.request.temperature", "The sampling temperature.");

  public static final Attribute<Double> REQUEST_TOP_P =
      number("gen_ai.request.top_p", "The nucleus sampling bound.");

  public static final Attribute<Long> REQUEST_N =
      count("gen_ai.request.n", "How many completions the client wants.")
          .renamedTo(longKey("gen_ai.request.choice.count"));

  public static final Attribute<Boolean> REQUEST_STREAM =
      flag("gen_ai.request.stream", "Whether the client wants a stream of tokens.");

  public static final Attribute<String> RESPONSE_MODEL =
      text("gen_ai.response.model", "The model that answered.").omittedWhenEmpty();

  public static final Attribute<List<String>> RESPONSE_FINISH_REASONS =
      texts("gen_ai.response.finish_reasons", "Why generation ended, one per completion.");

  public static final Attribute<Long> USAGE_PROMPT_TOKENS =
      count("gen_ai.usage.prompt_tokens", "Tokens in the prompt.")
          .renamedTo(longKey("gen_ai.usage.input_tokens"));

  public static final Attribute<Long> USAGE_COMPLETION_TOKENS =
      count("gen_ai.usage.completion_tokens", "Tokens generated.")
          .renamedTo(longKey("gen_ai.usage.output_tokens"));

  public static final Attribute<Long> USAGE_CACHED_TOKENS =
      count("gen_ai.usage.cached_tokens", "Prompt tokens found in the KV cache.")
          .renamedTo(longKey("gen_ai.usage.cache_read.input_tokens"));

  public static final Attribute<Long> USAGE_REASONING_TOKENS =
      count("gen_ai.usage.reasoning_tokens", "Generated tokens spent on reasoning.")
          .renamedTo(longKey("gen_ai.usage.reasoning.output_tokens"));

  public static final Attribute<Double> LATENCY_TIME_TO_FIRST_TOKEN =
      number("gen_ai.latency.time_to_first_token", "Seconds from arrival to the first token.")
          .renamedTo(doubleKey("gen_ai.response.time_to_first_chunk"));

  public static final Attribute<Double> LATENCY_E2E =
      number("gen_ai.latency.e2e", "Seconds from arrival to the last token.");

  public static final Attribute<Double> LATENCY_TIME_IN_QUEUE =
      number("gen_ai.latency.time_in_queue", "Seconds that the engine let the request wait.");

  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_PREFILL =
      number("gen_ai.latency.time_in_model_prefill", "Seconds from scheduling to first token.");

  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_DECODE =
      number("gen_ai.latency.time_in_model_decode", "Seconds from the first to the last token.");

  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_INFERENCE =
      number("gen_ai.latency.time_in_model_inference", "Seconds from scheduling to last token.");

  private GenAiAttributes() {}
}
