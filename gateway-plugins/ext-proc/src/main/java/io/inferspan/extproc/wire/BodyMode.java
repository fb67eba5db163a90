package io.inferspan.extproc.wire;

/** The modes in which Envoy sends a body. */
public enum BodyMode {
  /** Not at all. */
  NONE(0),
  /** Piece by piece, each waiting for its answer; headers have gone on by then. */
  STREAMED(1),
  /** Whole, before the headers go on. */
  BUFFERED(2),
  /** As much as fits Envoy's buffer, before the headers go on. */
  BUFFERED_PARTIAL(3),
  /** In pieces, of which only those sent back are forwarded; headers may wait for all of them. */
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
