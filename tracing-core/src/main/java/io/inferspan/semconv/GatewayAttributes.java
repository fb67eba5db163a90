package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.number;

/**
 * Attributes of a request's time in a gateway.
 *
 * <p>The five parts add up to the whole. The first four of them add up to the time to the first
 * token.
 */
public final class GatewayAttributes {

  /** Milliseconds that the request waited in a queue. */
  public static final Attribute<Double> QUEUE_MS = number("inferspan.gateway.queue_ms");

  /** Milliseconds of the gateway's own work, up to the call of an engine. */
  public static final Attribute<Double> SCHEDULE_MS = number("inferspan.gateway.schedule_ms");

  /** Milliseconds until engines were connected. */
  public static final Attribute<Double> UPSTREAM_CONNECT_MS =
      number("inferspan.gateway.upstream_connect_ms");

  /** Milliseconds until the first token from an engine; without a stream, until the first byte. */
  public static final Attribute<Double> UPSTREAM_FIRST_TOKEN_MS =
      number("inferspan.gateway.upstream_first_token_ms");

  /** Milliseconds from the first token to the end. */
  public static final Attribute<Double> REST_MS = number("inferspan.gateway.rest_ms");

  /** Milliseconds from arrival to the end. */
  public static final Attribute<Double> TOTAL_MS = number("inferspan.gateway.total_ms");

  /** The number of calls to engines for the request. */
  public static final Attribute<Long> ATTEMPTS = count("inferspan.gateway.attempts");

  /** The HTTP status that the engine answered. */
  public static final Attribute<Long> UPSTREAM_STATUS_CODE =
      count("inferspan.gateway.upstream.status_code");

  private GatewayAttributes() {}
}
