package io.inferspan.ebpf.spans;

import java.time.Duration;

/**
 * When an event is a span of its own, and how much is kept.
 *
 * @param thresholdNanos an event that took as long is a span of its own
 * @param firstFew so many events of each kind are, however short
 * @param allowPaths whether paths of files may leave as they are
 * @param bounds how much is kept
 * @param times for how long
 */
public record FoldOptions(
    long thresholdNanos, int firstFew, boolean allowPaths, Bounds bounds, Times times) {

  /** Checks what was given. */
  public FoldOptions {
    require("threshold", thresholdNanos, 0, Duration.ofHours(1).toNanos());
    require("first few", firstFew, 0, 100);
  }

  /** From 1 ms on, the first three of each kind, no paths. */
  public static FoldOptions defaults() {
    return new FoldOptions(1_000_000, 3, false, Bounds.defaults(), Times.defaults());
  }

  /** The same, with paths let out or not. */
  public FoldOptions withPaths(boolean allowed) {
    return new FoldOptions(thresholdNanos, firstFew, allowed, bounds, times);
  }

  /**
   * How much is kept; what is beyond is written early or told apart less, and never lost.
   *
   * @param requests requests open at once; the one that was quiet longest is written for a new one
   * @param folds folds open at once, over all requests
   * @param foldsPerRequest folds that one request tells apart by their detail
   * @param singlesPerRequest events of one request that are spans of their own; others are folded
   */
  public record Bounds(int requests, int folds, int foldsPerRequest, int singlesPerRequest) {

    /** Checks what was given. */
    public Bounds {
      require("requests", requests, 1, 1 << 20);
      require("folds", folds, 1, 1 << 20);
      require("folds per request", foldsPerRequest, 1, 1_000);
      require("singles per request", singlesPerRequest, 0, 10_000);
    }

    /** Some thirty megabytes where all of it is in use. */
    public static Bounds defaults() {
      return new Bounds(1_024, 8_192, 48, 64);
    }
  }

  /**
   * For how long events are kept.
   *
   * @param graceNanos after a request's end, for events that come late
   * @param quietNanos after the last event of a request; then what there is of it is written
   * @param toldNanos after the last event of a request that has announced its begin and not its
   *     end; until then its begin is remembered, which costs some hundred bytes
   * @param ageNanos in all: a request that runs longer is written in pieces
   */
  public record Times(long graceNanos, long quietNanos, long toldNanos, long ageNanos) {

    /** Checks what was given. */
    public Times {
      long longest = Duration.ofHours(1).toNanos();
      require("grace", graceNanos, 0, longest);
      require("quiet time", quietNanos, 1, longest);
      require("time to remember", toldNanos, quietNanos, longest);
      require("age", ageNanos, 1, longest);
    }

    /** A fifth of a second, two seconds, five minutes, ten seconds. */
    public static Times defaults() {
      return new Times(200_000_000, 2_000_000_000, 300_000_000_000L, 10_000_000_000L);
    }
  }

  private static void require(String what, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s is %d, but must be from %d to %d".formatted(what, value, least, most));
    }
  }
}
