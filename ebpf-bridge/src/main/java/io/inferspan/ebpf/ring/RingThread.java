package io.inferspan.ebpf.ring;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread that reads a ring and passes events to a handler.
 *
 * <p>Under high load it reads continuously. Under low load it pauses for 1 to 256 ms between reads,
 * so that some hundred events share one read. Without events it waits with increasing timeouts.
 * Programs wake it from a pause of more than 1 ms, or from a wait, only when 64 KiB are pending. If
 * the handler also has no pending work, the thread sleeps, and programs wake it for the first
 * event.
 */
public final class RingThread implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  private static final long MUCH_BYTES = 64 << 10;
  private static final long ENOUGH_BYTES = 32 << 10;

  /**
   * Pauses are so long that at most about one of this many parts of the ring fills meanwhile. So a
   * burst still fits.
   */
  private static final int PARTS_OF_RING = 16;

  private static final int SHORTEST_WAIT_MILLIS = 2;

  /**
   * The longest wait. It is long, because each turn of the loop costs about 0.1 ms of CPU time with
   * cold caches.
   */
  public static final int LONGEST_WAIT_MILLIS = 256;

  /** The longest wait if the ring is so small that it is full before programs wake the thread. */
  private static final int LONGEST_UNWOKEN_MILLIS = 64;

  private final RingReader reader;
  private final EventHandler handler;
  private final Readiness readiness;
  private final int longestMillis;
  private final LongAdder failures = new LongAdder();
  private final Thread thread;
  private volatile boolean closing;

  private RingThread(RingReader reader, EventHandler handler, Readiness readiness) {
    this.reader = reader;
    this.handler = handler;
    this.readiness = readiness;
    this.longestMillis =
        reader.capacityBytes() > MUCH_BYTES
            ? readiness.longestWaitMillis()
            : LONGEST_UNWOKEN_MILLIS;
    this.thread = Thread.ofPlatform().daemon().name("inferspan-ebpf-ring").unstarted(this::run);
  }

  /** Waits until a ring is readable. */
  @FunctionalInterface
  public interface Readiness {

    /** Waits for at most this time; returns true if the ring is readable. */
    boolean await(int timeoutMillis);

    /** Returns the longest time between two reads if there are few events. */
    default int longestWaitMillis() {
      return LONGEST_WAIT_MILLIS;
    }

    /** Publishes the state of the reader to the programs that wake it. */
    default void setReaderState(ReaderState state) {}
  }

  /** Starts a thread that drains a ring. */
  public static RingThread start(RingReader reader, EventHandler handler, Readiness readiness) {
    RingThread ring = new RingThread(reader, handler, readiness);
    ring.thread.start();
    return ring;
  }

  private void run() {
    int waitMillis = SHORTEST_WAIT_MILLIS;
    int pauseMillis = 1;
    while (!closing) {
      long bytes = drain();
      if (bytes > 0) {
        waitMillis = SHORTEST_WAIT_MILLIS;
        pauseMillis = pauseAfter(bytes, pauseMillis);
        if (bytes < MUCH_BYTES) {
          // During a pause of 1 ms, a wake-up would come only shortly before its end.
          rest(pauseMillis == 1 ? ReaderState.LOOKS : ReaderState.WAITS, pauseMillis, MUCH_BYTES);
        }
      } else if (handler.isAtRest()) {
        rest(ReaderState.SLEEPS, LONGEST_WAIT_MILLIS, 1);
      } else if (!rest(ReaderState.WAITS, waitMillis, 1)) {
        waitMillis = Math.min(2 * waitMillis, longestMillis);
      }
    }
    drain();
  }

  private int pauseAfter(long bytes, int millis) {
    long enough = Math.min(ENOUGH_BYTES, reader.capacityBytes() / PARTS_OF_RING);
    return Math.clamp(bytes < enough ? 2 * millis : millis / 2, 1, longestMillis);
  }

  /**
   * Waits for at most this time; returns true if there is data, even an incomplete record.
   *
   * @param enough does not wait if at least this many bytes are pending
   */
  private boolean rest(ReaderState state, int millis, long enough) {
    readiness.setReaderState(state);
    // Data that arrived before the programs saw the new state caused no wake-up.
    boolean readable = reader.backlogBytes() >= enough || readiness.await(millis);
    readiness.setReaderState(ReaderState.LOOKS);
    return readable;
  }

  private long drain() {
    try {
      return reader.drain(handler);
    } catch (RuntimeException | Error e) {
      failed(e);
      return MUCH_BYTES;
    } finally {
      tidyUp();
    }
  }

  private void tidyUp() {
    try {
      handler.drained();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  private void failed(Throwable cause) {
    failures.increment();
    LOGGER.log(Level.DEBUG, "An event could not be handled", cause);
  }

  /** Returns how often the handler threw an exception; the event is then skipped. */
  public long failures() {
    return failures.sum();
  }

  /** Reads the ring once more and ends the thread; waits at most two seconds. */
  @Override
  public void close() {
    close(Duration.ofSeconds(2));
  }

  /**
   * Reads the ring once more and ends the thread; returns false if that takes longer than {@code
   * bound}.
   */
  public boolean close(Duration bound) {
    closing = true;
    LockSupport.unpark(thread);
    try {
      return thread.join(bound);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
