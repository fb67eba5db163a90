package io.inferspan.testing.otlp;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** The calls that an {@link OtlpReceiver} keeps, within limits. */
final class ReceivedCalls {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition called = lock.newCondition();
  private final Deque<byte[]> bodies = new ArrayDeque<>();
  private final Deque<Map<String, String>> headers = new ArrayDeque<>();
  private final Set<String> protocols = new LinkedHashSet<>();
  private long retainedBytes;
  private long discardedBodies;
  private int count;
  private int notAccepted;
  private String lastProblem = "";

  void addBody(byte[] body) {
    locked(
        () -> {
          bodies.addLast(body);
          retainedBytes += body.length;
          while (isOverfull()) {
            retainedBytes -= bodies.removeFirst().length;
            discardedBodies++;
          }
          return true;
        });
  }

  private boolean isOverfull() {
    return retainedBytes > OtlpReceiver.MAX_RETAINED_BYTES
        || bodies.size() > OtlpReceiver.MAX_RETAINED_CALLS;
  }

  void addCall(String protocol, Map<String, String> callHeaders) {
    locked(
        () -> {
          count++;
          protocols.add(protocol);
          headers.addLast(callHeaders);
          if (headers.size() > OtlpReceiver.MAX_RETAINED_CALLS) {
            headers.removeFirst();
          }
          called.signalAll();
          return true;
        });
  }

  void addProblem(String problem) {
    locked(
        () -> {
          notAccepted++;
          lastProblem = problem;
          return true;
        });
  }

  List<byte[]> bodies() {
    return locked(() -> List.copyOf(bodies));
  }

  long discardedBodies() {
    return locked(() -> discardedBodies);
  }

  List<Map<String, String>> headers() {
    return locked(() -> List.copyOf(headers));
  }

  Set<String> protocols() {
    return locked(() -> Collections.unmodifiableSet(new LinkedHashSet<>(protocols)));
  }

  int count() {
    return locked(() -> count);
  }

  void clear() {
    locked(
        () -> {
          bodies.clear();
          headers.clear();
          protocols.clear();
          retainedBytes = 0;
          discardedBodies = 0;
          count = 0;
          notAccepted = 0;
          lastProblem = "";
          return true;
        });
  }

  void await(int wanted, Duration timeout) {
    lock.lock();
    try {
      long remainingNanos = timeout.toNanos();
      while (count < wanted) {
        if (remainingNanos <= 0) {
          throw new AssertionError(
              "expected %d export calls within %d ms, but: %s"
                  .formatted(wanted, timeout.toMillis(), this));
        }
        remainingNanos = called.awaitNanos(remainingNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + wanted + " export calls", e);
    } finally {
      lock.unlock();
    }
  }

  /** One clause for a failure message. */
  @Override
  public String toString() {
    return locked(
        () -> {
          String calls = "the receiver saw " + count + " export calls " + protocols;
          String problems = ", requests not accepted: " + notAccepted + " (" + lastProblem + ")";
          return notAccepted == 0 ? calls : calls + problems;
        });
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }
}
