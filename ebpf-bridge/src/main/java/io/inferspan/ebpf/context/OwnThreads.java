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
 * The threads of this process that the kernel knows, and the slot of shared memory that each has.
 *
 * <p>A thread gets its slot the first time a sampled span is current on it, which costs one system
 * call, and keeps it for its life. A thread that has ended cannot tell; so somebody calls {@link
 * #sweep} now and then, as does a thread that finds no slot, and a slot is used again only after
 * the kernel has forgotten who had it. A thread that got the number of one that ended takes its
 * place at once.
 */
public final class OwnThreads implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  private final ByteBuffer contexts;
  private final KernelThreads kernel;
  private final IntSupplier currentTid;
  private final @Nullable ContextListener listener;
  private final Doorbell bell;
  private final Map<Integer, ThreadRecord> byTid = new HashMap<>();
  private final int[] freeSlots;
  private final LongAdder refusals = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private int free;
  private boolean closed;

  /** So that a thread that was refused asks again, but not at every switch. */
  private volatile int round;

  /** The kernel's table of our threads: {@code own_threads}. */
  public interface KernelThreads {

    /** Tells the kernel that the thread's record is the one before {@code slotPlusOne}. */
    void put(int tid, int slotPlusOne);

    /** Has the kernel forget the thread. */
    void remove(int tid);
  }

  /**
   * Prepares slots.
   *
   * @param contexts the memory of {@code own_contexts}, 32 bytes a slot
   * @param kernel the kernel's table
   * @param currentTid tells the calling thread's number, as the kernel's programs see it
   * @param listener follows every switch, or null
   * @param bell rung by the first to be served while somebody waits for that
   */
  public OwnThreads(
      ByteBuffer contexts,
      KernelThreads kernel,
      IntSupplier currentTid,
      @Nullable ContextListener listener,
      Doorbell bell) {
    this.contexts = contexts;
    this.kernel = kernel;
    this.currentTid = currentTid;
    this.listener = listener;
    this.bell = bell;
    this.freeSlots = new int[contexts.capacity() / ThreadRecord.BYTES];
    for (int slot = freeSlots.length - 1; slot >= 0; slot--) {
      freeSlots[free++] = slot;
    }
  }

  @Nullable ContextListener listener() {
    return listener;
  }

  Doorbell bell() {
    return bell;
  }

  /** Whether a thread has a sampled span current now. */
  public synchronized boolean isServing() {
    return byTid.values().stream().anyMatch(record -> record.shown() != null);
  }

  /** A record for the calling thread, which is no virtual one. */
  synchronized ThreadRecord register() {
    Thread thread = Thread.currentThread();
    if (closed) {
      return refusal(thread);
    }
    try {
      return register(thread, currentTid.getAsInt());
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "A thread could not be told of", e);
      return refusal(thread);
    }
  }

  /** Remembered by the thread until the next sweep, so as not to ask again at every switch. */
  private ThreadRecord refusal(Thread thread) {
    refusals.increment();
    return new ThreadRecord(this, thread, 0, -1, ByteBuffer.allocate(0));
  }

  private ThreadRecord register(Thread thread, int tid) {
    ThreadRecord namesake = byTid.remove(tid);
    if (namesake != null) {
      release(namesake);
    }
    if (free == 0) {
      reclaim();
    }
    if (free == 0) {
      return refusal(thread);
    }
    int slot = freeSlots[free - 1];
    kernel.put(tid, slot + 1);
    free--;
    ByteBuffer memory = contexts.slice(slot * ThreadRecord.BYTES, ThreadRecord.BYTES);
    ThreadRecord record = new ThreadRecord(this, thread, tid, slot, memory);
    byTid.put(tid, record);
    return record;
  }

  /** Takes back the slots of threads that have ended, and lets those ask again that got none. */
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
      byTid.remove(record.tid());
      forget(record);
      release(record);
    }
  }

  private void forget(ThreadRecord record) {
    try {
      kernel.remove(record.tid());
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "A thread could not be forgotten", e);
    }
  }

  /** Whoever may still look at the slot finds nothing. */
  private void release(ThreadRecord record) {
    record.wipe();
    freeSlots[free++] = record.slot();
  }

  void failed() {
    failures.increment();
  }

  /** Threads that have a slot. */
  public synchronized int registered() {
    return byTid.size();
  }

  /** How often a thread was not told of: there was no slot, or the kernel did not take it. */
  public long refusals() {
    return refusals.sum();
  }

  /** How often a switch could not be told of. */
  public long failures() {
    return failures.sum();
  }

  /** Has the kernel forget all threads; what they do from now on is told to nobody. */
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
