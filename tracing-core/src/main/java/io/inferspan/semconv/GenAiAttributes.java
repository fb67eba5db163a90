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
 * Attributes of the GenAI semantic conventions, and attributes that inference engines add to them.
 *
 * <p>The latest keys are those of semantic conventions 1.41.
 */
public final class GenAiAttributes {

  /** The requested operation: {@code chat}, {@code text_completion} or {@code embeddings}. */
  public static final Attribute<String> OPERATION = text("gen_ai.operation.name");

  /** The provider of the model. */
  public static final Attribute<String> PROVIDER = text("gen_ai.provider.name");

  /** The requested model. */
  public static final Attribute<String> REQUEST_MODEL =
      text("gen_ai.request.model").omittedWhenEmpty();

  /** The id of the request, as the engine logs it. */
  public static final Attribute<String> REQUEST_ID = text("gen_ai.request.id").omittedWhenEmpty();

  /** The maximum number of tokens to generate. */
  public static final Attribute<Long> REQUEST_MAX_TOKENS = count("gen_ai.request.max_tokens");

  /** The sampling temperature. */
  public static final Attribute<Double> REQUEST_TEMPERATURE = number("gen_ai.request.temperature");

  /** The nucleus sampling threshold (top p). */
  public static final Attribute<Double> REQUEST_TOP_P = number("gen_ai.request.top_p");

  /** The number of completions requested. */
  public static final Attribute<Long> REQUEST_N =
      count("gen_ai.request.n").renamedTo(longKey("gen_ai.request.choice.count"));

  /** True if the client requested a stream. */
  public static final Attribute<Boolean> REQUEST_STREAM = flag("gen_ai.request.stream");

  /** The model that generated the response. */
  public static final Attribute<String> RESPONSE_MODEL =
      text("gen_ai.response.model").omittedWhenEmpty();

  /** The finish reasons, one per completion. */
  public static final Attribute<List<String>> RESPONSE_FINISH_REASONS =
      texts("gen_ai.response.finish_reasons");

  /** The number of tokens in the prompt. */
  public static final Attribute<Long> USAGE_PROMPT_TOKENS =
      count("gen_ai.usage.prompt_tokens").renamedTo(longKey("gen_ai.usage.input_tokens"));

  /** The number of generated tokens. */
  public static final Attribute<Long> USAGE_COMPLETION_TOKENS =
      count("gen_ai.usage.completion_tokens").renamedTo(longKey("gen_ai.usage.output_tokens"));

  /** The number of prompt tokens read from the KV cache. */
  public static final Attribute<Long> USAGE_CACHED_TOKENS =
      count("gen_ai.usage.cached_tokens")
          .renamedTo(longKey("gen_ai.usage.cache_read.input_tokens"));

  /** The number of generated tokens used for reasoning. */
  public static final Attribute<Long> USAGE_REASONING_TOKENS =
      count("gen_ai.usage.reasoning_tokens")
          .renamedTo(longKey("gen_ai.usage.reasoning.output_tokens"));

  /** Seconds from arrival to the first token. */
  public static final Attribute<Double> LATENCY_TIME_TO_FIRST_TOKEN =
      number("gen_ai.latency.time_to_first_token")
          .renamedTo(doubleKey("gen_ai.response.time_to_first_chunk"));

  /** Seconds from arrival to the last token. */
  public static final Attribute<Double> LATENCY_E2E = number("gen_ai.latency.e2e");

  /** Seconds in the engine's queue. */
  public static final Attribute<Double> LATENCY_TIME_IN_QUEUE =
      number("gen_ai.latency.time_in_queue");

  /** Seconds from scheduling to the first token. */
  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_PREFILL =
      number("gen_ai.latency.time_in_model_prefill");

  /** Seconds from the first to the last token. */
  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_DECODE =
      number("gen_ai.latency.time_in_model_decode");

  /** Seconds from scheduling to the last token. */
  public static final Attribute<Double> LATENCY_TIME_IN_MODEL_INFERENCE =
      number("gen_ai.latency.time_in_model_inference");

  private GenAiAttributes() {}
}
