package io.inferspan.ebpf.ring;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The daemon thread that drains a ring.
 *
 * <p>Under high load it continues at once. Under low load it pauses until about a hundred events
 * share one read, for 1 to 16 milliseconds. Without load it waits with increasing timeouts.
 * Programs end a longer pause, or a wait, only when much data is pending. If the handler has no
 * scheduled work either, the thread requests a wake-up for the first event and sleeps.
 */
public final class RingThread implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  private static final long MUCH_BYTES = 64 << 10;
  private static final long ENOUGH_BYTES = 8 << 10;

  /** A ring's share that one pause may fill, so that sixteen times the load still fits. */
  private static final int SHARE_OF_RING = 16;

  private static final int LONGEST_PAUSE_MILLIS = 16;
  private static final int SHORTEST_WAIT_MILLIS = 2;
  private static final int LONGEST_WAIT_MILLIS = 64;
  private static final int SLEEP_MILLIS = 250;

  private final RingReader reader;
  private final EventHandler handler;
  private final Readiness readiness;
  private final LongAdder failures = new LongAdder();
  private final Thread thread;
  private volatile boolean closing;

  private RingThread(RingReader reader, EventHandler handler, Readiness readiness) {
    this.reader = reader;
    this.handler = handler;
    this.readiness = readiness;
    this.thread = Thread.ofPlatform().daemon().name("inferspan-ebpf-ring").unstarted(this::run);
  }

  /** Waits until a ring is readable. */
  @FunctionalInterface
  public interface Readiness {

    /** Waits for at most this time; returns true if the ring is readable. */
    boolean await(int timeoutMillis);

    /** Announces what the reader is about to do to the side that wakes it. */
    default void readerDoes(ReaderState state) {}
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
      long bytes = look();
      if (bytes > 0) {
        waitMillis = SHORTEST_WAIT_MILLIS;
        pauseMillis = pauseAfter(bytes, pauseMillis);
        if (bytes < MUCH_BYTES) {
          // At high rates each wake-up would come shortly before the pause ends anyway.
          rest(pauseMillis == 1 ? ReaderState.LOOKS : ReaderState.WAITS, pauseMillis, MUCH_BYTES);
        }
      } else if (handler.isAtRest()) {
        rest(ReaderState.SLEEPS, SLEEP_MILLIS, 1);
      } else if (!rest(ReaderState.WAITS, waitMillis, 1)) {
        waitMillis = Math.min(2 * waitMillis, LONGEST_WAIT_MILLIS);
      }
    }
    look();
  }

  private int pauseAfter(long bytes, int millis) {
    long enough = Math.min(ENOUGH_BYTES, reader.capacityBytes() / SHARE_OF_RING);
    return Math.clamp(bytes < enough ? 2 * millis : millis / 2, 1, LONGEST_PAUSE_MILLIS);
  }

  /**
   * Waits for at most this time; returns true if there is data, even an incomplete record.
   *
   * @param enough what need not be waited for
   */
  private boolean rest(ReaderState state, int millis, long enough) {
    readiness.readerDoes(state);
    // Data that arrived before the programs saw the new state caused no wake-up.
    boolean come = reader.backlogBytes() >= enough || readiness.await(millis);
    readiness.readerDoes(ReaderState.LOOKS);
    return come;
  }

  private long look() {
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

  /** Returns how often the handler threw, which skips the event. */
  public long failures() {
    return failures.sum();
  }

  /** Drains the ring once more and ends, within two seconds unless the handler hangs. */
  @Override
  public void close() {
    close(Duration.ofSeconds(2));
  }

  /** Drains the ring once more and ends; returns false if that took longer than {@code bound}. */
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
