package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.number;

/**
 * Attributes of the phases of a request in a gateway.
 *
 * <p>The five phases add up to the total. All phases except the last add up to the time to the
 * first token.
 */
public final class GatewayAttributes {

  /** Milliseconds in the queue. */
  public static final Attribute<Double> QUEUE_MS = number("inferspan.gateway.queue_ms");

  /** Milliseconds of the gateway's own work, before and between calls to engines. */
  public static final Attribute<Double> SCHEDULE_MS = number("inferspan.gateway.schedule_ms");

  /** Milliseconds spent on connecting to engines. */
  public static final Attribute<Double> UPSTREAM_CONNECT_MS =
      number("inferspan.gateway.upstream_connect_ms");

  /** Milliseconds of waiting for the first token or, without a stream, for the first byte. */
  public static final Attribute<Double> UPSTREAM_FIRST_TOKEN_MS =
      number("inferspan.gateway.upstream_first_token_ms");

  /** Milliseconds from the first token to the end of the response. */
  public static final Attribute<Double> REST_MS = number("inferspan.gateway.rest_ms");

  /** Milliseconds from the request's arrival to the end of the response. */
  public static final Attribute<Double> TOTAL_MS = number("inferspan.gateway.total_ms");

  /** The number of calls to engines. */
  public static final Attribute<Long> ATTEMPTS = count("inferspan.gateway.attempts");

  /** The HTTP status code of the engine's response. */
  public static final Attribute<Long> UPSTREAM_STATUS_CODE =
      count("inferspan.gateway.upstream.status_code");

  private GatewayAttributes() {}
}
