package io.inferspan.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides whether a request may be scheduled at all; it must not block. */
@FunctionalInterface
public interface Admission {

  /** The reasons to reject a request with 429, named as in llm-d. */
  enum Rejection {
    /** All endpoints are at capacity. */
    SATURATED("rejected-saturated"),
    /** The request waited too long. */
    EXPIRED("rejected-ttl-expired"),
    /** A request with a higher priority replaced it. */
    EVICTED_BY_PRIORITY("evicted-priority");

    private final String reason;

    Rejection(String reason) {
      this.reason = reason;
    }

    /** Returns its value in the response header. */
    public String reason() {
      return reason;
    }
  }

  /** Returns the reason for rejecting the request, or null to admit it. */
  @Nullable Rejection reject(InferenceRequest request, List<Endpoint> candidates);

  /** Admits every request. */
  static Admission open() {
    return (request, candidates) -> null;
  }

  /**
   * Rejects requests while no endpoint has capacity: a short queue and room in its KV cache.
   *
   * @param maxWaiting the longest queue of an endpoint with capacity; 5 in llm-d
   * @param maxKvCacheUsage the highest cache usage of an endpoint with capacity, 0 to 1; 0.8 in
   *     llm-d
   */
  static Admission whileAnyHasRoom(int maxWaiting, double maxKvCacheUsage) {
    if (maxWaiting < 0 || !(maxKvCacheUsage >= 0 && maxKvCacheUsage <= 1)) {
      throw new IllegalArgumentException(
          "whileAnyHasRoom is configured with maxWaiting "
              + maxWaiting
              + " and maxKvCacheUsage "
              + maxKvCacheUsage
              + "; maxWaiting must be 0 or more, and maxKvCacheUsage from 0 to 1");
    }
    return (request, candidates) -> {
      for (Endpoint endpoint : candidates) {
        Endpoint.Metrics load = endpoint.metrics();
        if (load.waitingRequests() <= maxWaiting && load.kvCacheUsage() <= maxKvCacheUsage) {
          return null;
        }
      }
      // Without endpoints, the service responds with 503 instead.
      return candidates.isEmpty() ? null : Rejection.SATURATED;
    };
  }
}
