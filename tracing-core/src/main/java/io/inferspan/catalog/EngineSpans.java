package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.api.trace.SpanKind;

/** Spans that the inference engine itself creates; listed so that they pass the privacy guard. */
public final class EngineSpans {

  /** The request inside vLLM, from arrival to its last token. */
  public static final SpanType LLM_REQUEST =
      span(Component.ENGINE, "llm_request")
          .kind(SpanKind.SERVER)
          .carries(
              GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN,
              GenAiAttributes.LATENCY_E2E,
              GenAiAttributes.LATENCY_TIME_IN_QUEUE,
              GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL,
              GenAiAttributes.LATENCY_TIME_IN_MODEL_DECODE,
              GenAiAttributes.LATENCY_TIME_IN_MODEL_INFERENCE,
              GenAiAttributes.USAGE_PROMPT_TOKENS,
              GenAiAttributes.USAGE_COMPLETION_TOKENS,
              GenAiAttributes.REQUEST_ID,
              GenAiAttributes.REQUEST_MODEL,
              GenAiAttributes.REQUEST_TEMPERATURE,
              GenAiAttributes.REQUEST_TOP_P,
              GenAiAttributes.REQUEST_MAX_TOKENS,
              GenAiAttributes.REQUEST_N)
          .build();

  private EngineSpans() {}
}
