package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.TraceId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request in the list.
 *
 * @param seq a sequence number that grows with each change in the list; 0 before the summary is
 *     listed
 * @param head name, services and time
 * @param outcome status and results
 * @param model null if no span has a model
 * @param decision null if no span has a decision
 * @param kvHitRatio the share of the prompt found in a KV cache
 * @param counts the numbers of spans, errors and lost data
 * @param engines the engines that served the request
 * @param why where the time went, or what failed
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
    Why why) {

  /** Name, services and time. */
  public record Head(
      String name, String service, List<String> services, long startNanos, long endNanos) {

    /** Returns the duration in milliseconds. */
    public double durationMillis() {
      return (endNanos - startNanos) / 1e6;
    }
  }

  /**
   * Status and results.
   *
   * @param ttftMillis the time from the request's arrival to its first token
   * @param missing whether a span's parent has not arrived
   */
  public record Outcome(
      Status status,
      boolean missing,
      @Nullable String errorType,
      @Nullable Long httpStatus,
      @Nullable Double ttftMillis,
      @Nullable Long tokens) {}

  /**
   * Numbers of spans, errors and lost data.
   *
   * @param errors the number of failed spans
   * @param dropped the number of spans that the store dropped, plus the kernel events reported as
   *     missing
   * @param folded the number of calls that folded spans represent
   */
  public record Counts(int spans, int errors, long dropped, long folded) {}

  /**
   * One sentence that says where the time went, or what failed.
   *
   * @param spanId the span that the sentence is about
   */
  public record Why(String sentence, long spanId) {}

  /** Returns a copy with another {@code seq}. */
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

  /** Returns whether the summaries are equal apart from {@code seq}. */
  boolean equalsIgnoringSeq(@Nullable Summary other) {
    return other != null && equals(other.numbered(seq));
  }
}
