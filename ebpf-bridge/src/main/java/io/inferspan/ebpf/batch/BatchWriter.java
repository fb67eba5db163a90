package io.inferspan.ebpf.batch;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.SpanType;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Writes a span for each step, with links to its members (the requests in it), and up to three
 * spans for each request: queue, prefill and decode.
 */
final class BatchWriter implements Batches.Sink {

  private static final int LINKS = 128;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final String CUPTI = "cupti";
  private static final String HOST_WINDOW = "host_window";
  private static final String MARKS = "marks";
  private static final String PLUGIN = "plugin";
  private static final String FRAMES = "frames";

  private final Telemetry telemetry;
  private final ShareModel model;
  private final LongUnaryOperator epochNanos;
  private final LongFunction<@Nullable Interval> clock;

  /**
   * Creates a writer.
   *
   * @param epochNanos converts times of CLOCK_MONOTONIC to nanoseconds since the epoch
   * @param clock returns, for a time in nanoseconds since the epoch, how far this host's clock was
   *     ahead of the reference clock; null if unknown
   */
  BatchWriter(
      Telemetry telemetry,
      ShareModel model,
      LongUnaryOperator epochNanos,
      LongFunction<@Nullable Interval> clock) {
    this.clock = clock;
    this.telemetry = telemetry;
    this.model = model;
    this.epochNanos = epochNanos;
  }

  @Override
  public void done(Step step) {
    PendingSpan pending = telemetry.span(BatchSpans.STEP, Context.root());
    int next = link(pending, step, 0);
    OperationSpan span = describe(pending, step).startingAt(epoch(step.beganNanos)).start();
    step.context = span.context();
    step.span = span;
    while (next < step.size) {
      PendingSpan more =
          telemetry
              .span(BatchSpans.STEP_MEMBERS, span.context())
              .set(BatchAttributes.STEP, step.number);
      next = link(more, step, next);
      more.startingAt(epoch(step.beganNanos)).start().closeAt(epoch(end(step)));
    }
  }

  private static long end(Step step) {
    return Math.max(step.doneNanos, step.endedNanos);
  }

  @Override
  public void measured(Step step) {
    OperationSpan span = step.span;
    if (span != null) {
      span.set(BatchAttributes.BUSY_MS, step.busyNanos / NANOS_PER_MILLI)
          .set(BatchAttributes.BUSY_SOURCE, source(step))
          .closeAt(epoch(end(step)));
      step.span = null;
    }
  }

  private static String source(Step step) {
    return step.onDevice ? CUPTI : step.isLowered() ? MARKS : HOST_WINDOW;
  }

  /** Returns the least reliable source of the phase's busy time. */
  private static String source(PhaseTotals phase) {
    return phase.fromMarks > 0 ? MARKS : phase.onHost > 0 ? HOST_WINDOW : CUPTI;
  }

  /** Adds links to members from an index on, up to a span's limit; returns the next index. */
  private static int link(PendingSpan pending, Step step, int from) {
    int linked = 0;
    int at = from;
    while (at < step.size && linked < LINKS) {
      BatchRequest request = step.requests[at];
      if (request != null && request.head != null) {
        pending.linkedTo(request.head.parent(), linkAttributes(step, at));
        linked++;
      }
      at++;
    }
    return at;
  }

  /**
   * Returns the attributes of a member's link: without a plugin, whether its membership was
   * observed; otherwise, if it is in prefill, its prompt tokens.
   */
  private static Attributes linkAttributes(Step step, int member) {
    if (step.frames) {
      return Attributes.of(
          BatchAttributes.MEMBERSHIP.key(), membership(step.inferred[member] ? 1 : 0));
    }
    return step.prefill[member]
        ? Attributes.of(BatchAttributes.TOKENS.key(), (long) step.tokens[member])
        : Attributes.empty();
  }

  private PendingSpan describe(PendingSpan pending, Step step) {
    long tokens = 0;
    long prefills = 0;
    long unidentified = 0;
    long inferred = 0;
    for (int i = 0; i < step.size; i++) {
      tokens += step.tokens[i];
      prefills += step.prefill[i] ? 1 : 0;
      unidentified += step.requests[i] == null ? 1 : 0;
      inferred += step.inferred[i] ? 1 : 0;
    }
    if (step.frames) {
      pending.set(BatchAttributes.INFERRED, inferred);
    }
    if (step.isLowered()) {
      pending.set(KernelAttributes.LEVEL, step.level);
    }
    if (!step.isLowered() || step.counted >= 0) {
      pending.set(BatchAttributes.LAUNCHES, Math.max(step.launches, step.counted));
    }
    if (step.communicator != null) {
      pending
          .set(KernelAttributes.COMMUNICATOR, step.communicator.id())
          .set(KernelAttributes.RANK, step.communicator.rank())
          .set(KernelAttributes.RANKS, step.communicator.ranks());
      if (!step.missesCalls) {
        pending
            .set(KernelAttributes.SEQUENCE, step.sequence)
            .set(BatchAttributes.COLLECTIVES, step.collectives);
      }
    }
    Interval ahead = clock.apply(epoch(step.beganNanos));
    if (ahead != null) {
      pending
          .set(KernelAttributes.CLOCK_OFFSET_MS, ahead.offsetNanos() / NANOS_PER_MILLI)
          .set(KernelAttributes.CLOCK_ERROR_MS, ahead.errorNanos() / NANOS_PER_MILLI);
    }
    return pending
        .set(KernelAttributes.PROCESS_ID, step.pid)
        .set(BatchAttributes.RANK, step.rank)
        .set(BatchAttributes.STEP, step.number)
        .set(BatchAttributes.MEMBERS, step.size)
        .set(BatchAttributes.UNIDENTIFIED, unidentified)
        .set(BatchAttributes.PREFILL_MEMBERS, prefills)
        .set(BatchAttributes.TOKENS, tokens)
        .set(BatchAttributes.MODEL, model(step.frames))
        .set(BatchAttributes.SOURCE, source(step.frames))
        .set(BatchAttributes.COVERAGE, step.known && step.complete ? 1.0 : 0.0);
  }

  @Override
  public void request(BatchRequest request) {
    RequestHead head = request.head;
    if (head == null) {
      return;
    }
    Context parent = Context.root().with(Span.wrap(head.parent()));
    long first = Math.min(request.prefill.beganNanos, request.decode.beganNanos);
    if (first != Long.MAX_VALUE && first >= head.seenNanos()) {
      PendingSpan queue =
          telemetry
              .span(BatchSpans.QUEUE, parent)
              .set(BatchAttributes.SOURCE, source(request.frames))
              .set(BatchAttributes.COVERAGE, request.coverage());
      if (request.frames) {
        queue.set(BatchAttributes.MEMBERSHIP, membership(request.prefill.inferred));
      }
      queue.startingAt(epoch(head.seenNanos())).start().closeAt(epoch(first));
    }
    phase(BatchSpans.PREFILL, parent, request, request.prefill);
    phase(BatchSpans.DECODE, parent, request, request.decode);
  }

  private void phase(SpanType type, Context parent, BatchRequest request, PhaseTotals phase) {
    if (phase.steps == 0) {
      return;
    }
    PendingSpan pending = telemetry.span(type, parent);
    if (request.frames) {
      pending.set(BatchAttributes.MEMBERSHIP, membership(phase.inferred));
    }
    pending
        .set(BatchAttributes.STEPS, phase.steps)
        .set(BatchAttributes.TOKENS, phase.tokens)
        .set(BatchAttributes.SHARE_MS, phase.shareNanos / NANOS_PER_MILLI)
        .set(BatchAttributes.BUSY_MS, phase.busyNanos / NANOS_PER_MILLI)
        .set(BatchAttributes.BUSY_SOURCE, source(phase))
        .set(BatchAttributes.MODEL, model(request.frames))
        .set(BatchAttributes.SOURCE, source(request.frames))
        .set(BatchAttributes.COVERAGE, request.coverage())
        .set(BatchAttributes.ERROR_BOUND_MS, phase.errorBoundNanos / NANOS_PER_MILLI)
        .startingAt(epoch(phase.beganNanos))
        .start()
        .closeAt(epoch(phase.endedNanos));
  }

  private String model(boolean frames) {
    return (frames ? ShareModel.EQUAL : model).word();
  }

  private static String source(boolean frames) {
    return frames ? FRAMES : PLUGIN;
  }

  private static String membership(long inferred) {
    return inferred > 0 ? "inferred" : "observed";
  }

  private long epoch(long nanos) {
    return epochNanos.applyAsLong(nanos);
  }
}
