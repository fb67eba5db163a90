package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import io.opentelemetry.api.trace.SpanKind;

/** Spans of the prefill/decode (P/D) proxy. */
public final class PdSpans {

  /** The HTTP server span of any request to the proxy. */
  public static final SpanType SERVER =
      span(Component.PD_PROXY, "llm_d.pd_proxy.")
          .parameter("<METHOD> <path>")
          .kind(SpanKind.SERVER)
          .carries(
              CommonAttributes.HTTP_REQUEST_METHOD,
              CommonAttributes.HTTP_RESPONSE_STATUS_CODE,
              CommonAttributes.HTTP_ROUTE)
          .build();

  /** An inference request at the proxy, with its end-to-end durations. */
  public static final SpanType REQUEST =
      span(Component.PD_PROXY, "llm_d.pd_proxy.request")
          .since09("forward_request")
          .kind(SpanKind.SERVER)
          .under(SERVER)
          .carries(
              PdAttributes.CONNECTOR,
              PdAttributes.KV_CONNECTOR,
              PdAttributes.EC_CONNECTOR,
              PdAttributes.REQUEST_PATH,
              PdAttributes.OPENAI_API,
              PdAttributes.DISAGGREGATION_USED,
              PdAttributes.REASON,
              PdAttributes.PREFILL_TARGET,
              PdAttributes.PREFILL_CANDIDATES,
              PdAttributes.ERROR,
              PdAttributes.DENIED_TARGET,
              PdAttributes.KV_CACHE_SOURCE,
              PdAttributes.ENCODE_USED,
              PdAttributes.ENCODER_COUNT,
              PdAttributes.ENCODER_CANDIDATES,
              PdAttributes.ENCODER_ALLOWED,
              PdAttributes.TOTAL_DURATION_MS,
              PdAttributes.TRUE_TTFT_MS,
              PdAttributes.PREFILL_DURATION_MS,
              PdAttributes.DECODE_DURATION_MS,
              PdAttributes.COORDINATOR_OVERHEAD_MS,
              PdAttributes.CONCURRENT_PD,
              PdAttributes.PARALLEL_WINDOW_MS,
              PdAttributes.PARALLEL_DISPATCH,
              GenAiAttributes.RESPONSE_MODEL,
              GenAiAttributes.RESPONSE_FINISH_REASONS,
              GenAiAttributes.USAGE_PROMPT_TOKENS,
              GenAiAttributes.USAGE_COMPLETION_TOKENS,
              GenAiAttributes.USAGE_CACHED_TOKENS,
              GenAiAttributes.USAGE_REASONING_TOKENS,
              GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN,
              ResponseAttributes.FIRST_TOKEN_MS,
              ResponseAttributes.TOKEN_GAP_P50_MS,
              ResponseAttributes.TOKEN_GAP_P99_MS,
              ResponseAttributes.TOKEN_GAP_MAX_MS,
              ResponseAttributes.TOKENS,
              ResponseAttributes.COMPLETE)
          .build();

  /** The prefill stage, on another pod. */
  public static final SpanType PREFILL =
      span(Component.PD_PROXY, "llm_d.pd_proxy.prefill")
          .since09("prefill")
          .under(REQUEST)
          .carries(
              PdAttributes.REQUEST_ID,
              PdAttributes.PREFILL_TARGET,
              PdAttributes.CONNECTOR,
              PdAttributes.PREFILL_ASYNC,
              PdAttributes.PARALLEL_DISPATCH,
              PdAttributes.PREFILL_STATUS_CODE,
              PdAttributes.PREFILL_STAGE_MS,
              PdAttributes.BOOTSTRAP_ROOM)
          .build();

  /** The decode stage on the local engine, including KV transfer. */
  public static final SpanType DECODE =
      span(Component.PD_PROXY, "llm_d.pd_proxy.decode")
          .since09("decode")
          .under(REQUEST)
          .carries(
              PdAttributes.REQUEST_ID,
              PdAttributes.CONNECTOR,
              PdAttributes.DECODE_STREAMING,
              PdAttributes.DECODE_DATA_PARALLEL,
              PdAttributes.DECODE_CONCURRENT,
              PdAttributes.DECODE_TARGET,
              PdAttributes.DECODE_STAGE_MS,
              PdAttributes.CONCURRENT_PD,
              PdAttributes.TOTAL_DURATION_MS,
              PdAttributes.TRUE_TTFT_MS,
              PdAttributes.PREFILL_DURATION_MS,
              PdAttributes.DECODE_DURATION_MS,
              PdAttributes.COORDINATOR_OVERHEAD_MS)
          .build();

  /** The decode stage, split into chunks of a limited number of tokens. */
  public static final SpanType CHUNKED_DECODE =
      span(Component.PD_PROXY, "chunked_decode")
          .under(REQUEST)
          .carries(
              PdAttributes.CHUNK_SIZE,
              PdAttributes.CHUNKED_STREAMING,
              PdAttributes.CHUNKS,
              PdAttributes.CHUNKED_TOKENS,
              PdAttributes.CHUNKED_MS)
          .build();

  /** An HTTP call to an engine. */
  public static final SpanType UPSTREAM =
      span(Component.PD_PROXY, "HTTP ")
          .parameter("<METHOD>")
          .kind(SpanKind.CLIENT)
          .under(REQUEST)
          .carries(
              CommonAttributes.HTTP_REQUEST_METHOD,
              CommonAttributes.HTTP_RESPONSE_STATUS_CODE,
              CommonAttributes.SERVER_ADDRESS,
              CommonAttributes.SERVER_PORT)
          .build();

  private PdSpans() {}
}
