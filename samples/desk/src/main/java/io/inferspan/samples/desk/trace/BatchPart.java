package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Summary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request's part in the batches of one engine: where its time went, and who shared its steps.
 *
 * @param phases queue, prefill and decode, as far as they arrived
 * @param steps null if no step of it arrived
 * @param neighbours first those that made it wait, then those with the most steps in common
 */
public record BatchPart(List<Phase> phases, @Nullable Steps steps, List<Neighbour> neighbours) {

  /**
   * A phase of the request in the engine; null for values that its span does not report.
   *
   * @param name queue, prefill or decode
   * @param steps the number of steps
   * @param shareNanos its share of the GPU time of these steps
   * @param busyNanos the GPU time of these steps
   * @param boundNanos the possible error of the share
   */
  public record Phase(
      String name,
      long spanId,
      long startNanos,
      long endNanos,
      @Nullable Long steps,
      @Nullable Long tokens,
      @Nullable Long shareNanos,
      @Nullable Long busyNanos,
      @Nullable Long boundNanos,
      @Nullable Double coverage,
      @Nullable String model) {}

  /**
   * The steps, on one rank of the engine.
   *
   * @param ran the number of steps in which the request ran, from its phases
   * @param seen the number of these steps whose spans arrived
   * @param mostMembers the most requests in one of them
   * @param mostUntraced the most of these without a trace
   */
  public record Steps(long ran, long seen, long mostMembers, long mostUntraced, Waits waits) {}

  /**
   * The waits of the request.
   *
   * @param queuedBehind steps that ran while it was queued
   * @param stalls its decode steps that also computed prompts of others
   * @param stallNanos how much longer they took than its other decode steps; null without others
   * @param leftOut steps between its first and its last that ran without it
   * @param leftOutNanos GPU time of these
   * @param untracedNanos the part of all waits for prompts of requests without a trace
   */
  public record Waits(
      long queuedBehind,
      long stalls,
      @Nullable Long stallNanos,
      long leftOut,
      long leftOutNanos,
      long untracedNanos) {}

  /**
   * A request in the same steps.
   *
   * @param other null if only its engine is traced, or its spans were dropped
   * @param steps steps in common
   * @param promptTokens tokens of its prompt that were computed while this request ran or waited
   * @param waitNanos how long this request waited for them
   */
  public record Neighbour(
      TraceId traceId, @Nullable Summary other, long steps, long promptTokens, long waitNanos) {}
}
