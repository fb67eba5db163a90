package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.TraceId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of the list of requests.
 *
 * @param seq grows with each change of any summary; 0 before the summary is listed
 * @param head whose request it is
 * @param outcome how it went
 * @param model null where no span names one
 * @param decision null where nobody decided
 * @param kvHitRatio the share of the prompt that a KV cache had
 * @param counts how much there is
 * @param engines who worked on it
 * @param why where the time went, or what failed, in one sentence
 */
public record Summary(
    long seq,
    TraceId traceId,
    Head head,
    Outcome outcome,
    @Nullable String model,
    @Nullable String requestId,
    @Nullable Decision decision,
    @Nullable Double kvHitRatio,
    Counts counts,
    List<EngineUse> engines,
    String why) {

  /** Whose request it is, and when it was. */
  public record Head(
      String name, String service, List<String> services, long startNanos, long endNanos) {

    /** How long it took, in milliseconds. */
    public double durationMillis() {
      return (endNanos - startNanos) / 1e6;
    }
  }

  /**
   * How it went.
   *
   * @param ttftMillis from arrival to the first token
   * @param missing whether a span that others hang under has not come
   */
  public record Outcome(
      Status status,
      boolean missing,
      @Nullable String errorType,
      @Nullable Long httpStatus,
      @Nullable Double ttftMillis,
      @Nullable Long tokens) {}

  /**
   * How much there is.
   *
   * @param errors spans that failed
   * @param dropped what is known to be lost
   * @param folded events that stand in the trace as parts of folded spans
   */
  public record Counts(int spans, int errors, long dropped, long folded) {}

  /** The same under a number. */
  public Summary numbered(long number) {
    return new Summary(
        number,
        traceId,
        head,
        outcome,
        model,
        requestId,
        decision,
        kvHitRatio,
        counts,
        engines,
        why);
  }

  /** Whether it says the same, under whatever number. */
  boolean saysTheSameAs(@Nullable Summary other) {
    return other != null && equals(other.numbered(seq));
  }
}
