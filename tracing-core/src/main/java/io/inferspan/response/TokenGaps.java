package io.inferspan.response;

/**
 * A histogram of the gaps between tokens, with sixteen buckets per power of two.
 *
 * <p>Quantiles are accurate to 5 % from a microsecond to four minutes, and less accurate outside
 * that range. The longest gap is exact.
 */
final class TokenGaps {

  private static final int UNIT_BITS = 6;
  private static final int BUCKET_BITS = 4;
  private static final int PER_DOUBLING = 1 << BUCKET_BITS;
  private static final int LONGEST_BITS = 38;
  private static final int BUCKETS = (LONGEST_BITS - UNIT_BITS - BUCKET_BITS + 1) * PER_DOUBLING;

  private final int[] counts = new int[BUCKETS];
  private long count;
  private long maxNanos;

  void add(long nanos) {
    long gap = Math.max(0, nanos);
    counts[bucket(gap)]++;
    count++;
    maxNanos = Math.max(maxNanos, gap);
  }

  long maxNanos() {
    return maxNanos;
  }

  /** Returns a quantile of the gaps. */
  long nanos(double quantile) {
    long rank = Math.max(1, (long) Math.ceil(Math.min(1, quantile) * count));
    long seen = 0;
    for (int bucket = 0; bucket < BUCKETS - 1; bucket++) {
      seen += counts[bucket];
      if (seen >= rank) {
        return Math.min(maxNanos, middle(bucket));
      }
    }
    return maxNanos;
  }

  private static int bucket(long nanos) {
    long units = nanos >>> UNIT_BITS;
    if (units < PER_DOUBLING) {
      return (int) units;
    }
    int shift = 63 - BUCKET_BITS - Long.numberOfLeadingZeros(units);
    long bucket = ((long) shift << BUCKET_BITS) + (units >>> shift);
    return (int) Math.min(bucket, BUCKETS - 1);
  }

  private static long middle(int bucket) {
    if (bucket == 0) {
      return 0;
    }
    int shift = Math.max(0, (bucket >> BUCKET_BITS) - 1);
    long units = bucket - ((long) shift << BUCKET_BITS);
    return ((2 * units + 1) << shift << UNIT_BITS) >> 1;
  }
}
