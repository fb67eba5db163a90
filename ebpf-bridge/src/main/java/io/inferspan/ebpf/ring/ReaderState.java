package io.inferspan.ebpf.ring;

/**
 * The conditions under which the programs wake the ring's reader, numbered as in {@code wire.h}.
 */
public enum ReaderState {
  /** Not woken: the reader polls soon. */
  LOOKS(0),
  /** Woken when much data has arrived. */
  WAITS(1),
  /** Woken when any data has arrived. */
  SLEEPS(2);

  private final int number;

  ReaderState(int number) {
    this.number = number;
  }

  /** Returns the number that the programs read. */
  public int number() {
    return number;
  }
}
