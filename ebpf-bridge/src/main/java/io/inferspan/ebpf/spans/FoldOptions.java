package io.inferspan.ebpf.spans;

import java.time.Duration;

/**
 * The rules for which events become spans of their own, and the limits of what is kept in memory.
 *
 * @param thresholdNanos events at least this long become spans of their own
 * @param firstFew the number of events of each kind that become spans of their own even if they are
 *     short
 * @param allowPaths whether spans contain full file paths
 * @param bounds limits in number
 * @param times limits in time
 */
public record FoldOptions(
    long thresholdNanos, int firstFew, boolean allowPaths, Bounds bounds, Times times) {

  /** Checks the values. */
  public FoldOptions {
    require("threshold", thresholdNanos, 0, Duration.ofHours(1).toNanos());
    require("first few", firstFew, 0, 100);
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
   * The limits of what is kept. Beyond them, requests are written early and folds become coarser;
   * no event is lost.
   *
   * @param requests requests open at once; to make room, the one without an event for longest is
   *     written
   * @param folds folds open at once, over all requests
   * @param foldsPerRequest folds of one request that are separate by detail
   * @param singlesPerRequest events of one request that are spans of their own; others are folded
   */
  public record Bounds(int requests, int folds, int foldsPerRequest, int singlesPerRequest) {

    /** Checks the values. */
    public Bounds {
      require("requests", requests, 1, 1 << 20);
      require("folds", folds, 1, 1 << 20);
      require("folds per request", foldsPerRequest, 1, 1_000);
      require("singles per request", singlesPerRequest, 0, 10_000);
    }

    /** Returns the defaults, about 30 MB if all of it is in use. */
    public static Bounds defaults() {
      return new Bounds(1_024, 8_192, 48, 64);
    }
  }

  /**
   * The times for which events are kept.
   *
   * @param graceNanos after a request's end, for events that come late
   * @param quietNanos after the last event of a request; then its events are written
   * @param toldNanos after the last event of a request whose start was reported and whose end was
   *     not; its start is remembered until then, in some hundred bytes
   * @param ageNanos after the first event; a request that runs longer is written in pieces
   */
  public record Times(long graceNanos, long quietNanos, long toldNanos, long ageNanos) {

    /** Checks the values. */
    public Times {
      long longest = Duration.ofHours(1).toNanos();
      require("grace", graceNanos, 0, longest);
      require("quiet time", quietNanos, 1, longest);
      require("time to remember", toldNanos, quietNanos, longest);
      require("age", ageNanos, 1, longest);
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
