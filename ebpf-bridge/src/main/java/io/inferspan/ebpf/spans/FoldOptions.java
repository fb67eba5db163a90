package io.inferspan.ebpf.spans;

import java.time.Duration;

/**
 * Options that determine which events get spans of their own, and the limits of memory.
 *
 * <p>The other events of a request are folded: events of one kind with equal details share a span.
 * A fold is the data of such a span.
 *
 * @param thresholdNanos the minimum duration of an event that gets a span of its own
 * @param firstFew the number of events of each kind that get spans of their own whatever their
 *     duration
 * @param allowPaths whether spans contain full file paths
 * @param bounds the limits on the numbers of requests, folds and single spans
 * @param times how long requests and their events are kept
 */
public record FoldOptions(
    long thresholdNanos, int firstFew, boolean allowPaths, Bounds bounds, Times times) {

  /** Checks the values. */
  public FoldOptions {
    require("thresholdNanos", thresholdNanos, 0, Duration.ofHours(1).toNanos());
    require("firstFew", firstFew, 0, 100);
  }

  /** Returns the defaults: events of 1 ms or more, the first three of each kind, no paths. */
  public static FoldOptions defaults() {
    return new FoldOptions(1_000_000, 3, false, Bounds.defaults(), Times.defaults());
  }

  /** Returns a copy with or without full file paths. */
  public FoldOptions withPaths(boolean allowed) {
    return new FoldOptions(thresholdNanos, firstFew, allowed, bounds, times);
  }

  /**
   * The limits on numbers. Beyond them, requests are written early, and events with different
   * details are folded together; no event is lost.
   *
   * @param requests the limit of open requests; beyond it, a request is written early to make room
   * @param folds the limit of open folds of all requests
   * @param foldsPerRequest the limit of folds of one request; beyond it, one fold takes all further
   *     events of a kind
   * @param singlesPerRequest the limit of single spans of one request; further events are folded
   */
  public record Bounds(int requests, int folds, int foldsPerRequest, int singlesPerRequest) {

    /** Checks the values. */
    public Bounds {
      require("requests", requests, 1, 1 << 20);
      require("folds", folds, 1, 1 << 20);
      require("foldsPerRequest", foldsPerRequest, 1, 1_000);
      require("singlesPerRequest", singlesPerRequest, 0, 10_000);
    }

    /** Returns the defaults, which need at most about 30 MB. */
    public static Bounds defaults() {
      return new Bounds(1_024, 8_192, 48, 64);
    }
  }

  /**
   * How long requests and their events are kept.
   *
   * @param graceNanos the time after a request's end during which late events are accepted
   * @param quietNanos the time without an event after which a request's events are written
   * @param openNanos the time without an event after which a request is forgotten although its end
   *     was not reported
   * @param ageNanos the age at which the events of a running request are written
   */
  public record Times(long graceNanos, long quietNanos, long openNanos, long ageNanos) {

    /** Checks the values. */
    public Times {
      long longest = Duration.ofHours(1).toNanos();
      require("graceNanos", graceNanos, 0, longest);
      require("quietNanos", quietNanos, 1, longest);
      require("openNanos", openNanos, quietNanos, longest);
      require("ageNanos", ageNanos, 1, longest);
    }

    /** Returns the defaults: 200 ms, 2 s, 5 min, 10 s. */
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
