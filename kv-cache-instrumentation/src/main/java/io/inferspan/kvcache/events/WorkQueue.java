package io.inferspan.kvcache.events;

import java.util.Collection;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What waits for a worker, bounded in batches and in bytes.
 *
 * <p>What is no batch always finds room; there is never more of it than pods come, go and replay.
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

  /** Whether there is room for a batch. */
  boolean hasRoom() {
    return batches.get() < mostBatches && bytes.get() < mostBytes;
  }

  /** Adds a batch that was published; false where there is no room. */
  boolean offerLive(Message message) {
    return offer(message, 1);
  }

  /** Adds a batch of a replay, which may take half the room: it can wait, and the others cannot. */
  boolean offerReplayed(Message message) {
    return offer(message, 2);
  }

  private boolean offer(Message message, int share) {
    int queued = batches.get();
    // An empty queue takes anything, so that a bound below one batch does not stop the world.
    if (queued > 0
        && (queued >= mostBatches / share || bytes.get() + size(message) > mostBytes / share)) {
      return false;
    }
    push(message);
    return true;
  }

  /** Adds a batch that there was room for a moment ago. */
  void push(Message message) {
    batches.incrementAndGet();
    bytes.addAndGet(size(message));
    waiting.add(message);
  }

  /** Adds what is no batch. */
  void tell(Message message) {
    waiting.add(message);
  }

  /** Takes what waits, at most {@code most}; waits for the first, though not for ever. */
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

  /** Makes room: the worker has done with this. */
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
