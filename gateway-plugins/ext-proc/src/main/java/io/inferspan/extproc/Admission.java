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
    /** All endpoints have as much to do as they can. */
    SATURATED("rejected-saturated"),
    /** The request waited as long as it may. */
    EXPIRED("rejected-ttl-expired"),
    /** A request of a higher priority takes its place. */
    EVICTED_BY_PRIORITY("evicted-priority");

    private final String reason;

    Rejection(String reason) {
      this.reason = reason;
    }

    /** The word for it in the header of the answer. */
    public String reason() {
      return reason;
    }
  }

  /** Returns the reason to reject the request, or null to admit it. */
  @Nullable Rejection reject(InferenceRequest request, List<Endpoint> candidates);

  /** Admits every request. */
  static Admission open() {
    return (request, candidates) -> null;
  }

  /**
   * Turns requests away while no endpoint has room: a short queue and a free part of its KV cache.
   *
   * @param maxWaiting the longest queue that counts as room; llm-d takes 5
   * @param maxKvCacheUsage the highest usage that counts as room, 0 to 1; llm-d takes 0.8
   */
  static Admission whileAnyHasRoom(int maxWaiting, double maxKvCacheUsage) {
    if (maxWaiting < 0 || !(maxKvCacheUsage >= 0 && maxKvCacheUsage <= 1)) {
      throw new IllegalArgumentException(
          "an endpoint is to have room up to a queue of "
              + maxWaiting
              + " and a KV-cache usage of "
              + maxKvCacheUsage
              + "; the queue is 0 or more and the usage 0 to 1");
    }
    return (request, candidates) -> {
      for (Endpoint endpoint : candidates) {
        Endpoint.Metrics load = endpoint.metrics();
        if (load.waitingRequests() <= maxWaiting && load.kvCacheUsage() <= maxKvCacheUsage) {
          return null;
        }
      }
      // Without any endpoint, 503 is more precise.
      return candidates.isEmpty() ? null : Rejection.SATURATED;
    };
  }
}
