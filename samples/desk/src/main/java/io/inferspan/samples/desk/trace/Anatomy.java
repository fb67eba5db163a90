package io.inferspan.samples.desk.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the time to the first token.
 *
 * <p>The parts have no gaps and no overlaps, so they add up.
 *
 * @param engineTtftNanos as the engine reports it
 */
public record Anatomy(
    long beginNanos, long ttftNanos, @Nullable Long engineTtftNanos, List<Part> parts) {

  /** The kind of work or wait. */
  public enum Doing {
    QUEUE("queue"),
    SCHEDULE("schedule"),
    KV_LOOKUP("kv_lookup"),
    CONNECT("connect"),
    /** The gateway has sent the request and waits; no span of another process covers the time. */
    UPSTREAM("upstream"),
    /** In the P/D proxy, outside its calls of engines. */
    PROXY("proxy"),
    /** In a call of the P/D proxy, outside the span of the engine that it calls. */
    WIRE("wire"),
    /** In the engine's span, neither queued nor computing. */
    ENGINE("engine"),
    PREFILL("prefill"),
    TRANSFER("transfer"),
    FIRST_DECODE("first_decode"),
    OTHER("other");

    private final String key;

    Doing(String key) {
      this.key = key;
    }

    /** Returns the name in the page's API. */
    public String key() {
      return key;
    }
  }

  /**
   * One part; a kind of work can have several parts.
   *
   * @param source the span or attribute that reports it
   * @param node the span that reports it; null for {@link Doing#OTHER}
   */
  public record Part(
      Doing doing, long startNanos, long endNanos, String source, @Nullable Node node) {

    /** Returns the duration. */
    public long nanos() {
      return endNanos - startNanos;
    }
  }

  /** The sum of the parts. */
  public long sumNanos() {
    return parts.stream().mapToLong(Part::nanos).sum();
  }
}
