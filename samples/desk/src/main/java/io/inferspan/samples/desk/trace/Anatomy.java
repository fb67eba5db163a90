package io.inferspan.samples.desk.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the time to the first token was made of.
 *
 * <p>The parts follow each other without a gap and without overlap, so that they add up.
 *
 * @param engineTtftNanos what the engine says of itself
 */
public record Anatomy(
    long beginNanos, long ttftNanos, @Nullable Long engineTtftNanos, List<Part> parts) {

  /** What the request was doing. */
  public enum Doing {
    QUEUE("queue"),
    SCHEDULE("schedule"),
    KV_LOOKUP("kv_lookup"),
    CONNECT("connect"),
    PREFILL("prefill"),
    TRANSFER("transfer"),
    FIRST_DECODE("first_decode"),
    OTHER("other");

    private final String key;

    Doing(String key) {
      this.key = key;
    }

    /** The name that the page knows. */
    public String key() {
      return key;
    }
  }

  /**
   * One part; the same may be done more than once.
   *
   * @param source the span or attribute that says so
   */
  public record Part(Doing doing, long startNanos, long endNanos, String source) {

    /** How long it took. */
    public long nanos() {
      return endNanos - startNanos;
    }
  }

  /** The sum of the parts. */
  public long sumNanos() {
    return parts.stream().mapToLong(Part::nanos).sum();
  }
}
