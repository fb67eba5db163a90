package io.inferspan.testing.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The newest requests of an engine, limited in number and bytes so that load tests do not exhaust
 * the heap.
 */
final class RequestLog {
  private final int maxRequests;
  private final long maxBytes;
  private final Deque<EngineRequest> kept = new ArrayDeque<>();
  private long keptBytes;
  private long seen;

  RequestLog(int maxRequests, long maxBytes) {
    this.maxRequests = maxRequests;
    this.maxBytes = maxBytes;
  }

  synchronized void add(EngineRequest request) {
    kept.addLast(request);
    keptBytes += request.bodyLength();
    // The newest request always stays, however large it is.
    while (kept.size() > 1 && (kept.size() > maxRequests || keptBytes > maxBytes)) {
      keptBytes -= kept.removeFirst().bodyLength();
    }
    seen++;
    notifyAll();
  }

  synchronized List<EngineRequest> list() {
    return List.copyOf(kept);
  }

  synchronized long seen() {
    return seen;
  }

  synchronized void clear() {
    kept.clear();
    keptBytes = 0;
    seen = 0;
  }

  synchronized List<EngineRequest> await(long count, Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    try {
      while (seen < count) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError(
              "the engine received %d of %d requests within %s: %s"
                  .formatted(seen, count, limit, kept));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return List.copyOf(kept);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for requests", e);
    }
  }
}
