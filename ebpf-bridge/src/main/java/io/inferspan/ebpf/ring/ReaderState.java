package io.inferspan.ebpf.ring;

/** When the programs are to call the ring's reader, numbered as in {@code wire.h}. */
public enum ReaderState {
  /** Not at all: it looks by itself, soon. */
  LOOKS(0),
  /** When much has come. */
  WAITS(1),
  /** When anything has come. */
  SLEEPS(2);

  private final int number;

  ReaderState(int number) {
    this.number = number;
  }

  /** What the programs read. */
  public int number() {
    return number;
  }
}
