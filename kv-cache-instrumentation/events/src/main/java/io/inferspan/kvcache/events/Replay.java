package io.inferspan.kvcache.events;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A request to a publisher to repeat batches.
 *
 * <p>It also serves as a token by which a stream distinguishes the replies to its latest request
 * from those to an earlier one.
 *
 * @param topic the publisher's topic, for replies that have none
 * @param from the first batch requested
 * @param through the last batch needed
 * @param checksum the checksum of batch {@code from}, if it must be identical
 */
record Replay(
    Stream stream,
    Topic topic,
    long from,
    long through,
    Mode mode,
    int checksum,
    AtomicBoolean cancelled) {

  /** The requirements on the replies. */
  enum Mode {
    /** Begins with the requested batch and has no gap. */
    GAP,
    /** Begins with a known batch, which must be identical, and has no gap. */
    IDENTITY,
    /** May begin later, since the publisher may no longer have the first batches. */
    ALL
  }

  Replay(Stream stream, Topic topic, long from, long through, Mode mode, int checksum) {
    this(stream, topic, from, through, mode, checksum, new AtomicBoolean());
  }

  /** Returns the last batch that was applied or counted as missed when the replay was requested. */
  long accounted() {
    return mode == Mode.IDENTITY ? from : through;
  }

  /**
   * Timeouts and retries of a replay.
   *
   * @param totalMillis the time limit of a replay
   * @param idleMillis the time to wait for the next reply of a connected publisher
   * @param attempts the number of consecutive attempts without a batch after which the replay fails
   * @param backoffMillis the delay before the next attempt
   * @param cooldownMillis the time from a failed replay to the next one of the same publisher
   * @param atOnce the number of concurrent replays
   */
  record Limits(
      long totalMillis,
      long idleMillis,
      int attempts,
      long backoffMillis,
      long cooldownMillis,
      int atOnce) {

    /** llm-d's limits. */
    static final Limits DEFAULT = new Limits(120_000, 2_000, 3, 100, 30_000, 8);
  }
}
