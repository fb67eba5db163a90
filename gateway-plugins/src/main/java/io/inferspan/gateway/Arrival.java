package io.inferspan.gateway;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * What is known of a request when it arrives.
 *
 * @param nanos when that was, on the gateway's clock
 * @param epochNanos when that was, on the wall's
 */
record Arrival(String method, Api api, long nanos, long epochNanos) {

  /** Of a request that nobody watches. */
  static final Arrival UNSEEN = new Arrival("", Api.OTHER, 0, 0);

  static Arrival now(String method, Api api, long nanos) {
    Instant now = Instant.now();
    return new Arrival(
        method, api, nanos, TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano());
  }

  /** When something was, as spans have it: read once, so that they are as long as their parts. */
  long epochNanos(long atNanos) {
    return epochNanos + (atNanos - nanos);
  }
}
