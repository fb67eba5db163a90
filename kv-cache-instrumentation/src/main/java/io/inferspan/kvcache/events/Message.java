package io.inferspan.kvcache.events;

import org.jspecify.annotations.Nullable;

/**
 * What a worker is told.
 *
 * @param kind what happened
 * @param stream to whom
 * @param sequence the publisher's number of the batch
 * @param topic what it was published on
 * @param payload the batch; empty where there is none
 * @param connection which connection brought it, counted from 1
 * @param replay the replay that brought it or ended; null for what came by itself
 */
@SuppressWarnings("ArrayRecordComponent") // It is handed on, never compared.
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
    /** A batch that a replay brought. */
    REPLAYED,
    /** A replay brought what it was asked for. */
    REPLAY_DONE,
    /** A replay did not. */
    REPLAY_FAILED,
    /** A replay showed that the publisher is another one than before. */
    REPLAY_OF_ANOTHER_LIFE,
    /** The pod is gone. */
    GONE
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

  static Message gone(Stream stream) {
    return new Message(Kind.GONE, stream, 0, Topic.NONE, NONE, 0, null);
  }
}
