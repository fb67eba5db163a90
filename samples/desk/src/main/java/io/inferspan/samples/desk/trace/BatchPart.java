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
 * @param neighbours those that made it wait first, then those with most steps in common
 */
public record BatchPart(List<Phase> phases, @Nullable Steps steps, List<Neighbour> neighbours) {

  /**
   * What the request did in the engine for a while; null for what its span does not report.
   *
   * @param name queue, prefill or decode
   * @param steps in how many steps
   * @param shareNanos its share of the time that the GPU took for these steps
   * @param busyNanos all of that time
   * @param boundNanos how far the share may be off
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
   * @param ran in how many the request ran, as its phases report
   * @param seen how many of them arrived
   * @param mostMembers the most requests in one of them
   * @param mostUntraced the most of these without a trace
   */
  public record Steps(long ran, long seen, long mostMembers, long mostUntraced, Waits waits) {}

  /**
   * What the request waited for.
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
   * @param promptTokens of its prompt that were computed while this request ran or waited
   * @param waitNanos how long this request waited for them
   */
  public record Neighbour(
      TraceId traceId, @Nullable Summary other, long steps, long promptTokens, long waitNanos) {}
}
