package io.inferspan.ebpf.context;

/**
 * Rung by threads on which a sampled context becomes current, while somebody listens.
 *
 * <p>Asked at every switch: a class of its own and not an interface, so that asking is one look at
 * memory that hardly ever changes.
 */
public final class Doorbell {

  private final Answer answer;
  private volatile boolean heard;

  /** Who opens; called on the thread that switches, so it must be quick and never throw. */
  @FunctionalInterface
  public interface Answer {

    /** Somebody is served from now on. */
    void rang(long traceIdHigh, long traceIdLow, long spanId);
  }

  /** A bell that nobody hears yet. */
  public Doorbell(Answer answer) {
    this.answer = answer;
  }

  /** From now on somebody listens, or nobody. */
  public void listen(boolean now) {
    heard = now;
  }

  /** Whether somebody listens. */
  public boolean isHeard() {
    return heard;
  }

  void ring(SpanIds ids) {
    answer.rang(ids.traceIdHigh(), ids.traceIdLow(), ids.spanId());
  }
}
