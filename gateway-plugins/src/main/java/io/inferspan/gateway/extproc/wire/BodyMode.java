package io.inferspan.gateway.extproc.wire;

/** How Envoy shows a body. */
public enum BodyMode {
  /** Not at all. */
  NONE(0),
  /** Piece by piece, each waiting for its answer; headers have gone on by then. */
  STREAMED(1),
  /** Whole, before the headers go on. */
  BUFFERED(2),
  /** As much as fits Envoy's buffer, before the headers go on. */
  BUFFERED_PARTIAL(3),
  /** Piece by piece, and only what is sent back goes on; headers may wait for all of it. */
  FULL_DUPLEX_STREAMED(4);

  private static final BodyMode[] ALL = values();

  private final int number;

  BodyMode(int number) {
    this.number = number;
  }

  static BodyMode of(long number) throws MalformedMessageException {
    for (BodyMode mode : ALL) {
      if (mode.number == number) {
        return mode;
      }
    }
    throw new MalformedMessageException("the body mode " + number + " is not known");
  }

  /** What Envoy calls it. */
  int number() {
    return number;
  }

  /** Whether the headers still wait when the body comes, so that it can decide over them. */
  public boolean holdsHeaders() {
    return this == BUFFERED || this == BUFFERED_PARTIAL || this == FULL_DUPLEX_STREAMED;
  }
}
