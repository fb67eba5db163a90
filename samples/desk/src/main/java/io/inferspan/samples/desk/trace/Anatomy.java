package io.inferspan.samples.desk.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The time to the first token, divided into parts.
 *
 * <p>The parts neither overlap nor leave gaps, so their sum is the whole time.
 *
 * @param engineTtftNanos the engine's own time to first token, or null if it reports none
 */
public record Anatomy(
    long beginNanos, long ttftNanos, @Nullable Long engineTtftNanos, List<Part> parts) {

  /** The work or wait in a part. */
  public enum Activity {
    QUEUE("queue"),
    SCHEDULE("schedule"),
    KV_LOOKUP("kv_lookup"),
    CONNECT("connect"),
    /** The gateway waits for the upstream; no span of another process covers the time. */
    UPSTREAM("upstream"),
    /** The P/D proxy works, and does not call an engine. */
    PROXY("proxy"),
    /**
     * The P/D proxy calls an engine, outside the engine's span: the network and the engine's
     * server.
     */
    WIRE("wire"),
    /** The engine has the request, but neither queues nor computes it. */
    ENGINE("engine"),
    PREFILL("prefill"),
    TRANSFER("transfer"),
    FIRST_DECODE("first_decode"),
    OTHER("other");

    private final String key;

    Activity(String key) {
      this.key = key;
    }

    /** Returns the name in the page's API. */
    public String key() {
      return key;
    }
  }

  /**
   * One part. Several parts can have the same activity.
   *
   * @param source the name of the span or attribute that reports the part
   * @param node the span that reports the part; null for {@link Activity#OTHER}
   */
  public record Part(
      Activity activity, long startNanos, long endNanos, String source, @Nullable Node node) {

    public long nanos() {
      return endNanos - startNanos;
    }
  }

  /** Returns the sum of the parts. */
  public long sumNanos() {
    return parts.stream().mapToLong(Part::nanos).sum();
  }
}
