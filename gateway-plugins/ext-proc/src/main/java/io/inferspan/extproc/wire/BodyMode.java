package io.inferspan.extproc.wire;

/** The modes in which Envoy sends a body. */
public enum BodyMode {
  /** The body is not sent. */
  NONE(0),
  /**
   * The body is sent in pieces, each waiting for its response; the headers have been forwarded by
   * then.
   */
  STREAMED(1),
  /** The whole body is sent before the headers are forwarded. */
  BUFFERED(2),
  /** As much as fits Envoy's buffer is sent before the headers are forwarded. */
  BUFFERED_PARTIAL(3),
  /**
   * The body is sent in pieces, of which only those sent back are forwarded; headers may wait for
   * all of them.
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
    throw new MalformedMessageException("the body mode " + number + " is not known");
  }

  /** Returns Envoy's number. */
  int number() {
    return number;
  }

  /** Returns whether the headers wait until the body arrives, so that it can change them. */
  public boolean holdsHeaders() {
    return this == BUFFERED || this == BUFFERED_PARTIAL || this == FULL_DUPLEX_STREAMED;
  }
}
