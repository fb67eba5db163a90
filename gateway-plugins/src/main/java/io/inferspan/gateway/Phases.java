package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.GatewayAttributes;

/**
 * The phases of a request.
 *
 * <p>The request is always in exactly one phase. All phases therefore add up to the total, and all
 * except the last add up to the time to the first token, even if engines are retried.
 */
final class Phases {

  /** The phases. */
  enum Phase {
    QUEUE,
    SCHEDULE,
    CONNECT,
    FIRST_TOKEN,
    REST
  }

  /** The shared instance for unobserved requests. */
  static final Phases UNSEEN = new Phases(0);

  private long queueNanos;
  private long scheduleNanos;
  private long connectNanos;
  private long firstTokenNanos;
  private long restNanos;
  private final long arrivedNanos;
  private Phase phase = Phase.SCHEDULE;
  private long sinceNanos;

  Phases(long arrivedNanos) {
    this.arrivedNanos = arrivedNanos;
    this.sinceNanos = arrivedNanos;
  }

  /** Enters another phase; ignored after the first token. */
  void enter(Phase next, long nowNanos) {
    if (phase != Phase.REST) {
      close(nowNanos);
      phase = next;
    }
  }

  /** Ends the connect phase and begins the next one, if no connection was reported. */
  void connectionUnreported() {
    if (phase == Phase.CONNECT) {
      phase = Phase.FIRST_TOKEN;
    }
  }

  private void close(long nowNanos) {
    long passed = nowNanos - sinceNanos;
    sinceNanos = nowNanos;
    switch (phase) {
      case QUEUE -> queueNanos += passed;
      case SCHEDULE -> scheduleNanos += passed;
      case CONNECT -> connectNanos += passed;
      case FIRST_TOKEN -> firstTokenNanos += passed;
      case REST -> restNanos += passed;
    }
  }

  /** Ends the last phase. */
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
