package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of an engine's steps, and of a request's part in them. */
public final class BatchAttributes {

  /** The step's number in its process, from 1. */
  public static final Attribute<Long> STEP = count("llm_d.engine.step.number");

  /** Requests that ran in the step. */
  public static final Attribute<Long> MEMBERS = count("llm_d.engine.step.members");

  /** Members whose x-request-id is unknown or shared by several live requests. */
  public static final Attribute<Long> UNIDENTIFIED =
      count("llm_d.engine.step.members.unidentified");

  /** Members whose membership is inferred. */
  public static final Attribute<Long> INFERRED = count("llm_d.engine.step.members.inferred");

  /** Members that computed a part of their prompt. */
  public static final Attribute<Long> PREFILL_MEMBERS = count("llm_d.engine.step.members.prefill");

  /** Kernels and graphs that were launched in the step. */
  public static final Attribute<Long> LAUNCHES = count("llm_d.engine.step.launches");

  /** Steps in which the request took part. */
  public static final Attribute<Long> STEPS = count("llm_d.engine.steps");

  /** Tokens that were computed in these steps; on a link, those of the member's prompt. */
  public static final Attribute<Long> TOKENS = count("llm_d.engine.tokens");

  /** The request's share of the busy time of these steps. */
  public static final Attribute<Double> SHARE_MS = number("llm_d.engine.share_ms");

  /** Time during which the device worked for the step or steps. */
  public static final Attribute<Double> BUSY_MS = number("busy.ms");

  /** host_window: from the first launch to the end of the synchronisation. */
  public static final Attribute<String> BUSY_SOURCE = text("busy.source");

  /** The division of busy time among members: equal, tokens or prefill_weighted. */
  public static final Attribute<String> MODEL = text("attribution.model");

  /** The source of the membership: plugin or frames. */
  public static final Attribute<String> SOURCE = text("attribution.source");

  /**
   * With the source frames: observed, or inferred where the request was between its arrival and its
   * first token, and may have waited instead.
   */
  public static final Attribute<String> MEMBERSHIP = text("attribution.membership");

  /** Share of the steps of the request's time whose members and launches are all known. */
  public static final Attribute<Double> COVERAGE = number("attribution.coverage");

  /** The most that the true share can differ from share_ms; 0 in steps without others. */
  public static final Attribute<Double> ERROR_BOUND_MS = number("attribution.error_bound_ms");

  /** True if only the span's length was measured, and its start is an estimate. */
  public static final Attribute<Boolean> SYNTHESISED = flag("inferspan.synthesised");

  /** The most that a synthesised span can have started earlier. */
  public static final Attribute<Double> START_ERROR_MS = number("inferspan.start_error_ms");

  private BatchAttributes() {}
}
