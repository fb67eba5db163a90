package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of an inference engine's steps, and of a request's phases in the engine. */
public final class BatchAttributes {

  /** The number of the step in its process, from 1. */
  public static final Attribute<Long> STEP = count("llm_d.engine.step.number");

  /** The number of requests that ran in the step. */
  public static final Attribute<Long> MEMBERS = count("llm_d.engine.step.members");

  /**
   * The number of members whose {@code x-request-id} is unknown or not unique among the live
   * requests.
   */
  public static final Attribute<Long> UNIDENTIFIED =
      count("llm_d.engine.step.members.unidentified");

  /** The number of members whose membership is inferred, not observed. */
  public static final Attribute<Long> INFERRED = count("llm_d.engine.step.members.inferred");

  /** The number of members that computed prompt tokens in the step. */
  public static final Attribute<Long> PREFILL_MEMBERS = count("llm_d.engine.step.members.prefill");

  /** The number of kernels and CUDA graphs launched in the step. */
  public static final Attribute<Long> LAUNCHES = count("llm_d.engine.step.launches");

  /** The number of steps in which the request ran. */
  public static final Attribute<Long> STEPS = count("llm_d.engine.steps");

  /**
   * The number of tokens computed in the step or steps; on a link to a member, the number of its
   * prompt tokens in the step.
   */
  public static final Attribute<Long> TOKENS = count("llm_d.engine.tokens");

  /** The request's share of {@code busy.ms}. */
  public static final Attribute<Double> SHARE_MS = number("llm_d.engine.share_ms");

  /** Milliseconds during which the device was busy with the step or steps. */
  public static final Attribute<Double> BUSY_MS = number("busy.ms");

  /**
   * How {@code busy.ms} was measured; {@code host_window}: on the host, from the first launch to
   * the end of the synchronisation.
   */
  public static final Attribute<String> BUSY_SOURCE = text("busy.source");

  /**
   * How busy time is divided among the members of a step: {@code equal}, {@code tokens} or {@code
   * prefill_weighted}.
   */
  public static final Attribute<String> MODEL = text("attribution.model");

  /**
   * How the members are known: from the engine's plugin ({@code plugin}) or from its messages to
   * the API server ({@code frames}).
   */
  public static final Attribute<String> SOURCE = text("attribution.source");

  /**
   * With {@code attribution.source=frames}: {@code observed}, or {@code inferred} for a request
   * that has no token yet and may have been waiting.
   */
  public static final Attribute<String> MEMBERSHIP = text("attribution.membership");

  /**
   * The share of steps, during the request, whose members and launches are all known; on a step, 0
   * or 1.
   */
  public static final Attribute<Double> COVERAGE = number("attribution.coverage");

  /**
   * The maximum error of {@code llm_d.engine.share_ms}, in milliseconds; 0 if the request was alone
   * in its steps.
   */
  public static final Attribute<Double> ERROR_BOUND_MS = number("attribution.error_bound_ms");

  /** True if the duration of the span was measured, but its start is an estimate. */
  public static final Attribute<Boolean> SYNTHESISED = flag("inferspan.synthesised");

  /** The maximum number of milliseconds by which the span may have started earlier. */
  public static final Attribute<Double> START_ERROR_MS = number("inferspan.start_error_ms");

  private BatchAttributes() {}
}
