package io.inferspan.testing.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The newest requests that an engine received, bounded by number and by bytes so that load tests do
 * not pile up.
 */
final class RequestLog {
  private final int maxRequests;
  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition grown = lock.newCondition();
  private final Deque<EngineRequest> kept = new ArrayDeque<>();
  private long keptBytes;
  private long seen;

  RequestLog(int maxRequests, long maxBytes) {
    this.maxRequests = maxRequests;
    this.maxBytes = maxBytes;
  }

  void add(EngineRequest request) {
    lock.lock();
    try {
      kept.addLast(request);
      keptBytes += request.bodyLength();
      // The newest request always stays, however large it is.
      while (kept.size() > 1 && (kept.size() > maxRequests || keptBytes > maxBytes)) {
        keptBytes -= kept.removeFirst().bodyLength();
      }
      seen++;
      grown.signalAll();
    } finally {
      lock.unlock();
    }
  }

  List<EngineRequest> list() {
    lock.lock();
    try {
      return List.copyOf(kept);
    } finally {
      lock.unlock();
    }
  }

  long seen() {
    lock.lock();
    try {
      return seen;
    } finally {
      lock.unlock();
    }
  }

  void clear() {
    lock.lock();
    try {
      kept.clear();
      keptBytes = 0;
      seen = 0;
    } finally {
      lock.unlock();
    }
  }

  List<EngineRequest> await(long count, Duration limit) {
    lock.lock();
    try {
      long left = limit.toNanos();
      while (seen < count) {
        if (left <= 0) {
          throw new AssertionError(
              "the engine saw "
                  + seen
                  + " of "
                  + count
                  + " requests within "
                  + limit
                  + ": "
                  + kept);
        }
        left = grown.awaitNanos(left);
      }
      return List.copyOf(kept);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for requests", e);
    } finally {
      lock.unlock();
    }
  }
}
