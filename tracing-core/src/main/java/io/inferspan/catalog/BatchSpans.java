package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;

/** Spans of an inference engine that runs several requests in one step. */
public final class BatchSpans {

  private static final Attribute<?>[] PART = {
    BatchAttributes.STEPS,
    BatchAttributes.TOKENS,
    BatchAttributes.SHARE_MS,
    BatchAttributes.BUSY_MS,
    BatchAttributes.BUSY_SOURCE,
    BatchAttributes.MODEL,
    BatchAttributes.SOURCE,
    BatchAttributes.MEMBERSHIP,
    BatchAttributes.COVERAGE,
    BatchAttributes.ERROR_BOUND_MS,
    BatchAttributes.SYNTHESISED,
    BatchAttributes.START_ERROR_MS
  };

  /** One step of an engine: a root span with links to the requests that ran in it (its members). */
  public static final SpanType STEP =
      span(Component.KERNEL, "llm_d.engine.step")
          .carries(
              KernelAttributes.PROCESS_ID,
              BatchAttributes.STEP,
              BatchAttributes.MEMBERS,
              BatchAttributes.UNIDENTIFIED,
              BatchAttributes.INFERRED,
              BatchAttributes.PREFILL_MEMBERS,
              BatchAttributes.TOKENS,
              BatchAttributes.LAUNCHES,
              BatchAttributes.BUSY_MS,
              BatchAttributes.BUSY_SOURCE,
              BatchAttributes.MODEL,
              BatchAttributes.SOURCE,
              BatchAttributes.COVERAGE)
          .build();

  /** Links to further members of a step, because one span links to at most 128. */
  public static final SpanType STEP_MEMBERS =
      span(Component.KERNEL, "llm_d.engine.step.members")
          .under(STEP)
          .carries(BatchAttributes.STEP)
          .build();

  /** The time from a request's arrival at the API server to its first step. */
  public static final SpanType QUEUE =
      span(Component.KERNEL, "llm_d.engine.queue")
          .carries(
              BatchAttributes.SOURCE,
              BatchAttributes.MEMBERSHIP,
              BatchAttributes.COVERAGE,
              BatchAttributes.SYNTHESISED,
              BatchAttributes.START_ERROR_MS)
          .build();

  /** The prefill steps of a request, including those after a preemption. */
  public static final SpanType PREFILL =
      span(Component.KERNEL, "llm_d.engine.prefill").carries(PART).build();

  /** The decode steps of a request. */
  public static final SpanType DECODE =
      span(Component.KERNEL, "llm_d.engine.decode").carries(PART).build();

  private BatchSpans() {}
}
