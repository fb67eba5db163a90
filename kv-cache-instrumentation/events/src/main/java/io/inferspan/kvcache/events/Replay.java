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
    /** May begin later: what is left of a run whose start was missed. */
    LIFE
  }

  Replay(Stream stream, Topic topic, long from, long through, Mode mode, int checksum) {
    this(stream, topic, from, through, mode, checksum, new AtomicBoolean());
  }

  /** Returns the last batch that was applied or counted as missed when the replay was requested. */
  long settled() {
    return mode == Mode.IDENTITY ? from : through;
  }
}
