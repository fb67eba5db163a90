package io.inferspan.ebpf.ring;

/**
 * The state of the ring's reader, which determines when programs wake it; numbered as in {@code
 * settings.h}.
 */
public enum ReaderState {
  /** The reader reads again soon and is not woken. */
  LOOKS(0),
  /** The reader is woken when 64 KiB are unread. */
  WAITS(1),
  /** The reader is woken when any data has arrived. */
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
