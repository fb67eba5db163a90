package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.GatewayAttributes;

/**
 * The phases of a request.
 *
 * <p>At each moment the request is in exactly one phase, so that all phases add up to the total,
 * and all but the rest add up to the time to the first token, however often an engine is tried.
 */
final class Parts {

  /** The phases. */
  enum Part {
    QUEUE,
    SCHEDULE,
    CONNECT,
    FIRST_TOKEN,
    REST
  }

  /** Of unobserved requests, which record nothing. */
  static final Parts UNSEEN = new Parts(0);

  private long queueNanos;
  private long scheduleNanos;
  private long connectNanos;
  private long firstTokenNanos;
  private long restNanos;
  private final long arrivedNanos;
  private Part part = Part.SCHEDULE;
  private long sinceNanos;

  Parts(long arrivedNanos) {
    this.arrivedNanos = arrivedNanos;
    this.sinceNanos = arrivedNanos;
  }

  /** Another part begins; none does after the first token. */
  void enter(Part next, long nowNanos) {
    if (part != Part.REST) {
      close(nowNanos);
      part = next;
    }
  }

  /** No connection was reported: its time counts for the first token. */
  void connectedUntold() {
    if (part == Part.CONNECT) {
      part = Part.FIRST_TOKEN;
    }
  }

  private void close(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    sinceNanos = nowNanos;
    switch (part) {
      case QUEUE -> queueNanos += passed;
      case SCHEDULE -> scheduleNanos += passed;
      case CONNECT -> connectNanos += passed;
      case FIRST_TOKEN -> firstTokenNanos += passed;
      case REST -> restNanos += passed;
    }
  }

  /** The request has ended. */
  void end(long nowNanos) {
    close(nowNanos);
  }

  void describe(OperationSpan span) {
    span.setMillis(GatewayAttributes.QUEUE_MS, queueNanos)
        .setMillis(GatewayAttributes.SCHEDULE_MS, scheduleNanos)
        .setMillis(GatewayAttributes.UPSTREAM_CONNECT_MS, connectNanos)
        .setMillis(GatewayAttributes.UPSTREAM_FIRST_TOKEN_MS, firstTokenNanos)
        .setMillis(GatewayAttributes.REST_MS, restNanos)
        .setMillis(GatewayAttributes.TOTAL_MS, sinceNanos - arrivedNanos);
  }
}
