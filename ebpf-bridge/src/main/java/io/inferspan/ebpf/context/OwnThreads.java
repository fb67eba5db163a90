package io.inferspan.ebpf.context;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of this process that are registered with the kernel, and their slots in shared
 * memory.
 *
 * <p>A thread gets its slot the first time a sampled span is current on it, which costs one system
 * call, and keeps it for its lifetime. A thread does not report its end, so {@link #sweep} must be
 * called regularly; slots of ended threads are also freed when a new thread finds no free slot. A
 * slot is reused only after its thread was removed from the kernel's map, or by a new thread with
 * the same tid.
 */
public final class OwnThreads implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  private final ByteBuffer contexts;
  private final KernelThreads kernel;
  private final IntSupplier currentTid;
  private final @Nullable ContextListener listener;
  private final ContextSignal signal;
  private final Map<Integer, ThreadRecord> byTid = new HashMap<>();
  private final int[] freeSlots;
  private final LongAdder refusals = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private int free;
  private boolean closed;

  /**
   * Counts sweeps, so that a thread without a slot retries after a sweep rather than at every
   * change of its context.
   */
  private volatile int round;

  /** The kernel's map of our threads: {@code own_threads}. */
  public interface KernelThreads {

    /** Maps the thread to its slot plus one. */
    void put(int tid, int slotPlusOne);

    /** Removes the thread. */
    void remove(int tid);
  }

  /**
   * Creates the slots.
   *
   * @param contexts the memory of {@code own_contexts}, 32 bytes a slot
   * @param kernel the kernel's map
   * @param currentTid returns the calling thread's tid, as the kernel's programs see it
   * @param listener observes every change of a thread's span; may be null
   * @param signal notified, while it is on, when a sampled span became current on a thread
   */
  public OwnThreads(
      ByteBuffer contexts,
      KernelThreads kernel,
      IntSupplier currentTid,
      @Nullable ContextListener listener,
      ContextSignal signal) {
    this.contexts = contexts;
    this.kernel = kernel;
    this.currentTid = currentTid;
    this.listener = listener;
    this.signal = signal;
    this.freeSlots = new int[contexts.capacity() / ThreadRecord.BYTES];
    for (int slot = freeSlots.length - 1; slot >= 0; slot--) {
      freeSlots[free++] = slot;
    }
  }

  @Nullable ContextListener listener() {
    return listener;
  }

  ContextSignal signal() {
    return signal;
  }

  /** Returns whether a sampled span is current on any thread. */
  public synchronized boolean isServing() {
    return byTid.values().stream().anyMatch(record -> record.published() != null);
  }

  /** Returns a record for the calling thread, which must be a platform thread. */
  synchronized ThreadRecord register() {
    Thread thread = Thread.currentThread();
    if (closed) {
      return refusal(thread);
    }
    try {
      return register(thread, currentTid.getAsInt());
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "A thread could not be registered with the kernel", e);
      return refusal(thread);
    }
  }

  /** Returns a record without a slot, which is valid until the next sweep. */
  private ThreadRecord refusal(Thread thread) {
    refusals.increment();
    return new ThreadRecord(this, thread, 0, -1, ByteBuffer.allocate(0));
  }

  private ThreadRecord register(Thread thread, int tid) {
    ThreadRecord previous = byTid.get(tid);
    if (previous == null && free == 0) {
      reclaim();
    }
    if (previous == null && free == 0) {
      return refusal(thread);
    }
    int slot = previous == null ? freeSlots[free - 1] : previous.slot();
    if (previous != null) {
      previous.wipe();
    }
    kernel.put(tid, slot + 1);
    if (previous == null) {
      free--;
    }
    ByteBuffer memory = contexts.slice(slot * ThreadRecord.BYTES, ThreadRecord.BYTES);
    ThreadRecord record = new ThreadRecord(this, thread, tid, slot, memory);
    byTid.put(tid, record);
    return record;
  }

  /** Frees the slots of threads that have ended, and lets threads without a slot retry. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
  public synchronized void sweep() {
    reclaim();
    round++;
  }

  int round() {
    return round;
  }

  private void reclaim() {
    List<ThreadRecord> ended = new ArrayList<>();
    for (ThreadRecord record : byTid.values()) {
      if (!record.owner().isAlive()) {
        ended.add(record);
      }
    }
    for (ThreadRecord record : ended) {
      // BPF programs may read the slot until the thread is removed from the map.
      record.wipe();
      if (forget(record)) {
        byTid.remove(record.tid());
        freeSlots[free++] = record.slot();
      }
    }
  }

  private boolean forget(ThreadRecord record) {
    try {
      kernel.remove(record.tid());
      return true;
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "A thread could not be removed from the kernel's map", e);
      return false;
    }
  }

  void failed() {
    failures.increment();
  }

  /** Returns the number of threads that have a slot. */
  public synchronized int registered() {
    return byTid.size();
  }

  /** Returns how many registrations failed because no slot was free or the kernel refused. */
  public long refusals() {
    return refusals.sum();
  }

  /** Returns how many changes of a thread's context could not be published. */
  public long failures() {
    return failures.sum();
  }

  /** Removes all threads from the kernel's map; later changes are not published. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      PublishingContextStorage.stop(this);
      byTid.values().forEach(this::forget);
      byTid.values().forEach(ThreadRecord::wipe);
      byTid.clear();
    }
  }
}
