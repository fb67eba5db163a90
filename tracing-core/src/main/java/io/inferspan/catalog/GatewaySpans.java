package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GatewayAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.ResponseAttributes;
import io.opentelemetry.api.trace.SpanKind;

/** Spans of the gateway itself. */
public final class GatewaySpans {

  /** A request at the gateway, from its first header to the last byte of the response. */
  public static final SpanType REQUEST =
      span(Component.GATEWAY, "gateway.request")
          .after010("request")
          .kind(SpanKind.SERVER)
          .carries(
              GenAiAttributes.OPERATION,
              GenAiAttributes.PROVIDER,
              GenAiAttributes.REQUEST_MODEL,
              GenAiAttributes.REQUEST_ID,
              GenAiAttributes.REQUEST_STREAM,
              GenAiAttributes.REQUEST_MAX_TOKENS,
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
              ResponseAttributes.COMPLETE,
              ResponseAttributes.ENCODING,
              CommonAttributes.HTTP_REQUEST_METHOD,
              CommonAttributes.HTTP_RESPONSE_STATUS_CODE,
              CommonAttributes.HTTP_ROUTE,
              EppAttributes.FAIRNESS_ID,
              EppAttributes.FAIRNESS_SOURCE,
              GatewayAttributes.QUEUE_MS,
              GatewayAttributes.SCHEDULE_MS,
              GatewayAttributes.UPSTREAM_CONNECT_MS,
              GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS,
              GatewayAttributes.REST_MS,
              GatewayAttributes.TOTAL_MS,
              GatewayAttributes.ATTEMPTS,
              GatewayAttributes.UPSTREAM_STATUS_CODE,
              CommonAttributes.SERVER_ADDRESS,
              CommonAttributes.SERVER_PORT)
          .build();

  /** Admission and scheduling of the request. */
  public static final SpanType ORCHESTRATION =
      span(Component.REQUEST_CONTROL, "gateway.request_orchestration")
          .after010("request_orchestration")
          .kind(SpanKind.SERVER)
          .under(REQUEST)
          .carries(EppAttributes.TARGET_MODEL, EppAttributes.REQUEST_PRIORITY)
          .build();

  /** One call to an engine; by default only if a request needs several. llm-d has no such span. */
  public static final SpanType ATTEMPT =
      span(Component.GATEWAY, "gateway.attempt")
          .after010("attempt")
          .kind(SpanKind.CLIENT)
          .under(REQUEST)
          .carries(
              CommonAttributes.HTTP_REQUEST_METHOD,
              CommonAttributes.HTTP_RESEND_COUNT,
              CommonAttributes.HTTP_RESPONSE_STATUS_CODE,
              CommonAttributes.SERVER_ADDRESS,
              CommonAttributes.SERVER_PORT,
              GenAiAttributes.USAGE_PROMPT_TOKENS,
              GenAiAttributes.USAGE_COMPLETION_TOKENS,
              GenAiAttributes.USAGE_CACHED_TOKENS,
              GenAiAttributes.USAGE_REASONING_TOKENS)
          .build();

  private GatewaySpans() {}
}
