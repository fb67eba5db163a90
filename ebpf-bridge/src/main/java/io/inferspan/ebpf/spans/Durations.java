package io.inferspan.ebpf.spans;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of the durations of folded events. Count, sum, minimum and maximum are exact.
 * Percentiles are exact for up to 64 events, and have a relative error of at most 1/32 for more.
 */
final class Durations {

  static final int EXACT = 64;

  private static final int STEPS_BITS = 4;
  private static final int STEPS = 1 << STEPS_BITS;
  private static final int HIGHEST_EXPONENT = 40;
  private static final int BUCKETS = (HIGHEST_EXPONENT - STEPS_BITS + 2) * STEPS;

  private long[] exact = new long[8];

  /** Created on first use, then reused. */
  private int @Nullable [] buckets;

  private boolean bucketed;
  private long count;
  private long sum;
  private long min;
  private long max;

  void clear() {
    count = 0;
    sum = 0;
    min = Long.MAX_VALUE;
    max = 0;
    bucketed = false;
  }

  void add(long nanos) {
    int[] filled = bucketed || count == EXACT ? buckets() : null;
    if (filled != null) {
      filled[bucket(nanos)]++;
    } else {
      keep(nanos);
    }
    count++;
    sum += nanos;
    min = Math.min(min, nanos);
    max = Math.max(max, nanos);
  }

  private void keep(long nanos) {
    int index = (int) count;
    if (index == exact.length) {
      exact = Arrays.copyOf(exact, 2 * index);
    }
    exact[index] = nanos;
  }

  private int[] buckets() {
    int[] filled = buckets;
    if (filled == null) {
      filled = new int[BUCKETS];
      buckets = filled;
    } else if (!bucketed) {
      Arrays.fill(filled, 0);
    }
    if (!bucketed) {
      bucketed = true;
      for (int i = 0; i < EXACT; i++) {
        filled[bucket(exact[i])]++;
      }
    }
    return filled;
  }

  /**
   * Returns the bucket of a duration. There are sixteen for each power of two, and the last one
   * also has all longer durations.
   */
  private static int bucket(long nanos) {
    if (nanos < STEPS) {
      return (int) nanos;
    }
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
    if (exponent > HIGHEST_EXPONENT) {
      return BUCKETS - 1;
    }
    int step = (int) (nanos >>> (exponent - STEPS_BITS)) & (STEPS - 1);
    return (exponent - STEPS_BITS + 1) * STEPS + step;
  }

  private static long middle(int bucket) {
    if (bucket < STEPS) {
      return bucket;
    }
    int shift = bucket / STEPS - 1;
    long low = (long) (STEPS + bucket % STEPS) << shift;
    return low + (1L << shift) / 2;
  }

  long count() {
    return count;
  }

  long sum() {
    return sum;
  }

  long min() {
    return min;
  }

  long max() {
    return max;
  }

  /** Returns the duration that {@code percent} of the events did not exceed. */
  long percentile(int percent) {
    long rank = Math.max(1, (count * percent + 99) / 100);
    if (!bucketed) {
      long[] sorted = Arrays.copyOf(exact, (int) count);
      Arrays.sort(sorted);
      return sorted[(int) rank - 1];
    }
    int[] filled = buckets();
    int bucket = 0;
    for (long below = filled[0]; below < rank; below += filled[bucket]) {
      bucket++;
    }
    return Math.clamp(middle(bucket), min, max);
  }
}
