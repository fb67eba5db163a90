package io.inferspan.kvcache.events;

/**
 * A request to a publisher to repeat batches.
 *
 * <p>It also serves as a token by which a stream distinguishes the replies to its latest request
 * from those to an earlier one.
 */
final class Replay {

  /** The requirements on the replies. */
  enum Mode {
    /** Begins with the requested batch and has no gap. */
    GAP,
    /** Begins with a known batch, which must be identical, and has no gap. */
    IDENTITY,
    /** May begin later: what is left of a run whose start was missed. */
    LIFE
  }

  private final Stream stream;
  private final Topic topic;
  private final long from;
  private final long through;
  private final Mode mode;
  private final int checksum;
  private volatile boolean cancelled;

  /**
   * Creates a request.
   *
   * @param topic the publisher's topic, for replies that have none
   * @param from the first batch requested
   * @param through the last batch needed
   * @param checksum the checksum of batch {@code from}, if it must be identical
   */
  Replay(Stream stream, Topic topic, long from, long through, Mode mode, int checksum) {
    this.stream = stream;
    this.topic = topic;
    this.from = from;
    this.through = through;
    this.mode = mode;
    this.checksum = checksum;
  }

  Stream stream() {
    return stream;
  }

  Topic topic() {
    return topic;
  }

  long from() {
    return from;
  }

  long through() {
    return through;
  }

  /** Returns the last batch that was applied or counted as missed when the replay was requested. */
  long settled() {
    return mode == Mode.IDENTITY ? from : through;
  }

  Mode mode() {
    return mode;
  }

  int checksum() {
    return checksum;
  }

  void cancel() {
    cancelled = true;
  }

  boolean cancelled() {
    return cancelled;
  }
}
