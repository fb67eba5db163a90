package io.inferspan.testing.otlp;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The latest calls to an {@link OtlpReceiver}, limited in number and bytes. */
final class ReceivedCalls {
  private final Deque<byte[]> bodies = new ArrayDeque<>();
  private final Deque<Map<String, String>> headers = new ArrayDeque<>();
  private final Set<String> protocols = new LinkedHashSet<>();
  private long retainedBytes;
  private long discardedBodies;
  private int count;
  private int notAccepted;
  private String lastProblem = "";

  synchronized void addBody(byte[] body) {
    bodies.addLast(body);
    retainedBytes += body.length;
    while (isOverfull()) {
      retainedBytes -= bodies.removeFirst().length;
      discardedBodies++;
    }
  }

  private boolean isOverfull() {
    return retainedBytes > OtlpReceiver.MAX_RETAINED_BYTES
        || bodies.size() > OtlpReceiver.MAX_RETAINED_CALLS;
  }

  synchronized void addCall(String protocol, Map<String, String> callHeaders) {
    count++;
    protocols.add(protocol);
    headers.addLast(callHeaders);
    if (headers.size() > OtlpReceiver.MAX_RETAINED_CALLS) {
      headers.removeFirst();
    }
    notifyAll();
  }

  synchronized void addProblem(String problem) {
    notAccepted++;
    lastProblem = problem;
  }

  synchronized List<byte[]> bodies() {
    return List.copyOf(bodies);
  }

  synchronized long discardedBodies() {
    return discardedBodies;
  }

  synchronized List<Map<String, String>> headers() {
    return List.copyOf(headers);
  }

  synchronized Set<String> protocols() {
    return Collections.unmodifiableSet(new LinkedHashSet<>(protocols));
  }

  synchronized int count() {
    return count;
  }

  synchronized void clear() {
    bodies.clear();
    headers.clear();
    protocols.clear();
    retainedBytes = 0;
    discardedBodies = 0;
    count = 0;
    notAccepted = 0;
    lastProblem = "";
  }

  synchronized void await(int wanted, Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    try {
      while (count < wanted) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError(
              "expected %d export calls within %d ms, but: %s"
                  .formatted(wanted, timeout.toMillis(), this));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + wanted + " export calls", e);
    }
  }

  /** Returns a clause for a failure message. */
  @Override
  public synchronized String toString() {
    String calls = "the receiver got " + count + " export calls " + protocols;
    String problems = ", requests not accepted: " + notAccepted + " (" + lastProblem + ")";
    return notAccepted == 0 ? calls : calls + problems;
  }
}
