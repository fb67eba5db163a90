package io.inferspan.gateway;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a request when it arrives.
 *
 * @param nanos the time of arrival on the monotonic clock
 * @param epochNanos the time of arrival on the wall clock
 * @param tenant the tenant that the client names, or null
 * @param priority the priority of the request's objective; null if priorities are not configured
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
   * Returns a span timestamp. The wall clock is read only on arrival, so that a span is as long as
   * its phases.
   */
  long epochNanos(long atNanos) {
    return epochNanos + (atNanos - nanos);
  }
}
