package io.inferspan.kvcache.events;

import org.jspecify.annotations.Nullable;

/**
 * A message to a worker.
 *
 * @param kind what happened
 * @param stream the stream that it concerns
 * @param sequence the publisher's sequence number
 * @param topic the topic of the batch
 * @param payload the batch; empty if there is none
 * @param connection the number of the connection that delivered it, from 1; 0 for a bound socket or
 *     a replay
 * @param replay the replay that delivered it or ended; null for a live message
 */
@SuppressWarnings("ArrayRecordComponent") // Messages are passed on, never compared.
record Message(
    Kind kind,
    Stream stream,
    long sequence,
    Topic topic,
    byte[] payload,
    int connection,
    @Nullable Replay replay) {

  private static final byte[] NONE = {};

  enum Kind {
    /** A batch that was published. */
    LIVE,
    /** A batch from a replay. */
    REPLAYED,
    /** A replay delivered the requested batches. */
    REPLAY_DONE,
    /** A replay failed. */
    REPLAY_FAILED,
    /** A replay showed that the publisher has restarted. */
    PUBLISHER_RESTARTED,
    /** The pod was removed. */
    POD_REMOVED
  }

  static Message live(Stream stream, long sequence, Topic topic, byte[] payload, int connection) {
    return new Message(Kind.LIVE, stream, sequence, topic, payload, connection, null);
  }

  static Message replayed(Replay replay, long sequence, Topic topic, byte[] payload) {
    return new Message(Kind.REPLAYED, replay.stream(), sequence, topic, payload, 0, replay);
  }

  static Message ended(Kind how, Replay replay) {
    return new Message(how, replay.stream(), 0, Topic.NONE, NONE, 0, replay);
  }

  static Message podRemoved(Stream stream) {
    return new Message(Kind.POD_REMOVED, stream, 0, Topic.NONE, NONE, 0, null);
  }
}
