package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.Summary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the batches of one engine meant for a request: its phases, its steps, and the requests that
 * shared these steps.
 *
 * @param phases the phases whose spans have arrived
 * @param steps null if no span of the request's steps has arrived
 * @param neighbours requests in the same steps: first those that made this request wait longest,
 *     then those with the most shared steps
 */
public record BatchPart(List<Phase> phases, @Nullable Steps steps, List<Neighbour> neighbours) {

  /**
   * A phase of the request in the engine. A value that the phase's span does not report is null.
   *
   * @param name queue, prefill or decode
   * @param steps the number of engine steps in the phase
   * @param shareNanos the request's share of the GPU time of these steps
   * @param busyNanos the GPU time of these steps
   * @param boundNanos the maximum error of the share
   * @param coverage the share of these steps for which no event was lost
   * @param model how the GPU time of a step is divided among its requests
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
   * The engine steps of the request, on one rank.
   *
   * @param ran the number of steps in which the request ran, as its phases report
   * @param seen the number of these steps whose spans arrived
   * @param mostMembers the maximum number of requests in one of these steps
   * @param mostUntraced the maximum number of untraced requests in one of these steps
   */
  public record Steps(long ran, long seen, long mostMembers, long mostUntraced, Waits waits) {}

  /**
   * The time that a request waited because of other requests in the engine.
   *
   * @param queuedBehind the number of steps that ran while the request was queued
   * @param stalls the number of the request's decode steps that also computed prompts of other
   *     requests
   * @param stallNanos the additional GPU time of these steps, compared with the request's other
   *     decode steps; null if there are no others
   * @param leftOut the number of steps between the request's first and last step in which it did
   *     not run
   * @param leftOutNanos the GPU time of the left-out steps
   * @param untracedNanos the waits in steps that computed a prompt of an untraced request
   */
  public record Waits(
      long queuedBehind,
      long stalls,
      @Nullable Long stallNanos,
      long leftOut,
      long leftOutNanos,
      long untracedNanos) {}

  /**
   * Another request in the same steps.
   *
   * @param other the other request's summary; null if only its engine is traced, or its spans were
   *     dropped
   * @param steps the number of shared steps
   * @param promptTokens the tokens of its prompt that were computed while this request ran or
   *     waited
   * @param waitNanos the time that this request waited for these tokens
   */
  public record Neighbour(
      TraceId traceId, @Nullable Summary other, long steps, long promptTokens, long waitNanos) {}
}
