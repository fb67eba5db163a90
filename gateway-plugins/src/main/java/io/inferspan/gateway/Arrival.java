package io.inferspan.gateway;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a request when it arrives.
 *
 * @param nanos its time on the gateway's clock
 * @param epochNanos its wall-clock time
 * @param tenant the tenant that the client names, or null
 * @param priority the priority of its objective; null if priorities are not configured
 */
record Arrival(
    String method,
    Api api,
    long nanos,
    long epochNanos,
    @Nullable String tenant,
    @Nullable Long priority) {

  /** The arrival of an unobserved request. */
  static final Arrival UNSEEN = new Arrival("", Api.OTHER, 0, 0, null, null);

  static Arrival now(
      String method, Api api, long nanos, @Nullable String tenant, @Nullable Long priority) {
    Instant now = Instant.now();
    long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    return new Arrival(method, api, nanos, epochNanos, tenant, priority);
  }

  /**
   * Returns a span timestamp. Wall-clock time is read once, so that spans are as long as their
   * parts.
   */
  long epochNanos(long atNanos) {
    return epochNanos + (atNanos - nanos);
  }
}
