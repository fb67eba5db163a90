package io.inferspan.extproc.wire;

/** Envoy's modes of sending a body. */
public enum BodyMode {
  /** The body is not sent. */
  NONE(0),
  /**
   * The headers are forwarded first. The body is sent in pieces, and Envoy waits for a response to
   * each.
   */
  STREAMED(1),
  /** The whole body is sent before the headers are forwarded. */
  BUFFERED(2),
  /** As much as fits Envoy's buffer is sent before the headers are forwarded. */
  BUFFERED_PARTIAL(3),
  /**
   * The body is sent in pieces. Envoy forwards only the pieces that are sent back, and the headers
   * may wait for all of them.
   */
  FULL_DUPLEX_STREAMED(4);

  private static final BodyMode[] ALL = values();

  private final int number;

  BodyMode(int number) {
    this.number = number;
  }

  static BodyMode of(int number) throws MalformedMessageException {
    for (BodyMode mode : ALL) {
      if (mode.number == number) {
        return mode;
      }
    }
    throw new MalformedMessageException("the body mode " + number + " is unknown");
  }

  /** Returns Envoy's number. */
  int number() {
    return number;
  }

  /** Returns whether Envoy delays the headers until the body has been sent. */
  public boolean holdsHeaders() {
    return this == BUFFERED || this == BUFFERED_PARTIAL || this == FULL_DUPLEX_STREAMED;
  }
}
