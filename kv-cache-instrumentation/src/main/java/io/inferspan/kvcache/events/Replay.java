package io.inferspan.kvcache.events;

/**
 * What is asked of a publisher again.
 *
 * <p>It is also the token by which a stream knows the answers to its last question from those to an
 * older one.
 */
final class Replay {

  /** What the answer must be like. */
  enum Mode {
    /** It begins with the batch asked for, and has no hole. */
    GAP,
    /** It begins with a batch that is known, which must be the same again, and has no hole. */
    IDENTITY,
    /** It may begin later: what there still is of a life whose beginning was missed. */
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
   * A question.
   *
   * @param topic what the publisher publishes on, for replies that do not say
   * @param from the first batch that is asked for
   * @param through the last that is needed
   * @param checksum of the batch {@code from}, where it must be the same again
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

  /** The last batch that was applied or counted as missed when this was asked. */
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
