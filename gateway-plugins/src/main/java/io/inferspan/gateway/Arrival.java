package io.inferspan.gateway;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a request when it arrives.
 *
 * @param nanos when that was, on the gateway's clock
 * @param epochNanos when that was, on the wall's
 * @param priority what its objective gives it; null where nobody has told what objectives give
 */
record Arrival(String method, Api api, long nanos, long epochNanos, @Nullable Long priority) {

  /** Of a request that nobody watches. */
  static final Arrival UNSEEN = new Arrival("", Api.OTHER, 0, 0, null);

  static Arrival now(String method, Api api, long nanos, @Nullable Long priority) {
    Instant now = Instant.now();
    long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    return new Arrival(method, api, nanos, epochNanos, priority);
  }

  /** When something was, as spans have it: read once, so that they are as long as their parts. */
  long epochNanos(long atNanos) {
    return epochNanos + (atNanos - nanos);
  }
}
