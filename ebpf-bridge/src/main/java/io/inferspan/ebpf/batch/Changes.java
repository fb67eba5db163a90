package io.inferspan.ebpf.batch;

/** What a step changes in its process's members. */
final class Changes {

  private static final long PREFILL = 1L << 56;
  private static final long FINISHED = 1L << 57;

  /** Slots and their tokens, as {@code inferspan_ckp.h} lays them out. */
  final long[] words;

  /** Words that are valid. */
  final int count;

  /** They are all members, not the difference to the step before. */
  final boolean full;

  Changes(long[] words, int count, boolean full) {
    this.words = words;
    this.count = count;
    this.full = full;
  }

  static int slot(long word) {
    return (int) word;
  }

  /** Zero if the slot left. */
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
