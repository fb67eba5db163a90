package io.inferspan.testing.server;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The newest elements in the order of arrival, limited in number and bytes so that load tests do
 * not exhaust the heap. Any thread may add elements and wait for them.
 *
 * @param <T> type of its elements
 */
public final class Arrivals<T> {
  private final int maxElements;
  private final long maxBytes;
  private final ToLongFunction<T> bytes;
  private final Deque<T> kept = new ArrayDeque<>();
  private long keptBytes;
  private long count;

  /** Creates an empty log; {@code bytes} returns the size of an element. */
  public Arrivals(int maxElements, long maxBytes, ToLongFunction<T> bytes) {
    this.maxElements = maxElements;
    this.maxBytes = maxBytes;
    this.bytes = bytes;
  }

  /** Creates an empty log that keeps this many elements of any size. */
  public Arrivals(int maxElements) {
    this(maxElements, Long.MAX_VALUE, element -> 0);
  }

  /** Adds elements at once, and drops the oldest ones beyond the limits. */
  public synchronized void add(List<? extends T> elements) {
    for (T element : elements) {
      kept.addLast(element);
      keptBytes += bytes.applyAsLong(element);
      count++;
    }
    // The newest element always stays, however large it is.
    while (kept.size() > 1 && (kept.size() > maxElements || keptBytes > maxBytes)) {
      keptBytes -= bytes.applyAsLong(kept.removeFirst());
    }
    notifyAll();
  }

  /** Returns the elements that are kept, oldest first. */
  public synchronized List<T> list() {
    return List.copyOf(kept);
  }

  /** Returns the number of elements since the last {@link #clear}, including dropped ones. */
  public synchronized long count() {
    return count;
  }

  /** Returns the number of elements that were dropped. */
  public synchronized long dropped() {
    return count - kept.size();
  }

  /** Removes all elements and resets the counts. */
  public synchronized void clear() {
    kept.clear();
    keptBytes = 0;
    count = 0;
  }

  /**
   * Waits until {@code isEnough}, which is checked after each change.
   *
   * @param failure the message if the limit is reached first
   */
  public synchronized void await(
      BooleanSupplier isEnough, Duration limit, Supplier<String> failure) {
    long end = System.nanoTime() + limit.toNanos();
    try {
      while (!isEnough.getAsBoolean()) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError(failure.get());
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted: " + failure.get(), e);
    }
  }
}
