package io.inferspan.kvcache.events;

import java.util.Collection;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The queue of a worker, bounded in batches and in bytes.
 *
 * <p>Messages other than batches are always accepted; a pod causes only a few of them.
 */
final class WorkQueue {

  private static final int OVERHEAD_BYTES = 128;

  private final LinkedBlockingQueue<Message> waiting = new LinkedBlockingQueue<>();
  private final AtomicInteger batches = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final int mostBatches;
  private final long mostBytes;

  WorkQueue(int mostBatches, long mostBytes) {
    this.mostBatches = mostBatches;
    this.mostBytes = mostBytes;
  }

  /** Returns whether there is space for a batch. */
  boolean hasRoom() {
    return batches.get() < mostBatches && bytes.get() < mostBytes;
  }

  /**
   * Adds a batch; returns false if the queue is full.
   *
   * @param share the divisor of the limits for this batch: 1 for live batches, 2 for replayed ones,
   *     which can wait
   */
  boolean offer(Message message, int share) {
    int queued = batches.get();
    // An empty queue accepts any batch, so that a limit below one batch does not stall the stream.
    if (queued > 0
        && (queued >= mostBatches / share || bytes.get() + size(message) > mostBytes / share)) {
      return false;
    }
    push(message);
    return true;
  }

  /** Adds a batch after {@link #hasRoom} returned true. */
  void push(Message message) {
    batches.incrementAndGet();
    bytes.addAndGet(size(message));
    waiting.add(message);
  }

  /** Adds a message other than a batch. */
  void signal(Message message) {
    waiting.add(message);
  }

  /** Takes at most {@code most} messages; waits a bounded time for the first one. */
  void take(Collection<Message> into, int most, long waitMillis) throws InterruptedException {
    Message first = waiting.poll();
    if (first == null) {
      first = waiting.poll(waitMillis, TimeUnit.MILLISECONDS);
    }
    if (first != null) {
      into.add(first);
      waiting.drainTo(into, most - 1);
    }
  }

  /** Releases the space of a processed message. */
  void done(Message message) {
    if (message.kind() == Message.Kind.LIVE || message.kind() == Message.Kind.REPLAYED) {
      batches.decrementAndGet();
      bytes.addAndGet(-size(message));
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  int batches() {
    return batches.get();
  }

  private static int size(Message message) {
    return message.payload().length + OVERHEAD_BYTES;
  }
}
