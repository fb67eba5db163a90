package io.inferspan.ebpf.batch;

/** The members that a step adds, changes or removes compared with the previous step. */
final class Changes {

  private static final long PREFILL = 1L << 56;
  private static final long FINISHED = 1L << 57;

  /**
   * One word per member: its slot, which is the engine's number for a request, and its tokens, in
   * the layout of {@code inferspan_ckp.h}.
   */
  final long[] words;

  /** Number of valid words. */
  final int count;

  /** Whether the words list all members rather than only the changes. */
  final boolean full;

  Changes(long[] words, int count, boolean full) {
    this.words = words;
    this.count = count;
    this.full = full;
  }

  static int slot(long word) {
    return (int) word;
  }

  /** Returns the scheduled tokens; zero if the slot is no longer scheduled. */
  static int tokens(long word) {
    return (int) (word >>> 32) & 0xff_ffff;
  }

  static boolean isPrefill(long word) {
    return (word & PREFILL) != 0;
  }

  static boolean isFinished(long word) {
    return (word & FINISHED) != 0;
  }
}
