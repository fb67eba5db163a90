package io.inferspan.ebpf.coldstart;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.ebpf.coldstart.ColdStart.Explained;
import io.inferspan.ebpf.coldstart.PhaseTimeline.Summary;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Activity;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.spans.KernelClock;
import io.inferspan.semconv.KernelAttributes;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The span of a cold start. Its children are a span for each phase and gap, a span that ends when
 * the first TCP socket listens, and the calls of the processes.
 */
public final class ColdStartTrace {

  /** As the OpenTelemetry specification requires, variables are named like headers, in capitals. */
  private static final TextMapGetter<Map<String, String>> ENVIRONMENT =
      new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Map<String, String> environment, String key) {
          return environment == null ? null : environment.get(key.toUpperCase(Locale.ROOT));
        }
      };

  private final Telemetry telemetry;
  private final OperationSpan root;
  private final long startNanos;
  private final KernelClock clock = new KernelClock(Clocks::monotonicNanos, Clocks::realtimeNanos);

  private ColdStartTrace(Telemetry telemetry, Context parent, long startNanos) {
    this.telemetry = telemetry;
    this.startNanos = startNanos;
    this.root =
        telemetry
            .span(KernelSpans.COLD_START, parent)
            .startingAt(clock.epochNanos(startNanos))
            .start();
  }

  /**
   * Starts the span as a child of the {@code TRACEPARENT} in the environment.
   *
   * @param startNanos the start on CLOCK_MONOTONIC; may be in the future
   */
  public static ColdStartTrace start(
      Telemetry telemetry, Map<String, String> environment, long startNanos) {
    return new ColdStartTrace(telemetry, parent(telemetry, environment), startNanos);
  }

  /** Returns the start in nanoseconds, on CLOCK_MONOTONIC. */
  public long startNanos() {
    return startNanos;
  }

  /**
   * Returns the context from {@code TRACEPARENT} in the environment; the root context if it is not
   * set.
   */
  public static Context parent(Telemetry telemetry, Map<String, String> environment) {
    return telemetry.extract(environment, ENVIRONMENT);
  }

  /** Returns the environment variables that pass this span to a program. */
  public Map<String, String> environment() {
    Map<String, String> variables = new HashMap<>();
    telemetry.inject(
        root,
        variables,
        (ignored, name, value) -> variables.put(name.toUpperCase(Locale.ROOT), value));
    return variables;
  }

  /** Returns the {@code traceparent} of this span. */
  public String traceparent() {
    return String.valueOf(environment().get("TRACEPARENT"));
  }

  /** Returns the trace id, 32 hexadecimal digits. */
  public String traceId() {
    return traceparent().split("-", -1)[1];
  }

  /** Writes the phases and ends the span. */
  public void end(ColdStart start) {
    PhaseTimeline timeline = start.phases();
    timeline.phases().forEach(this::write);
    timeline.gaps().forEach(gap -> write(start.explained(gap)));
    long inPhases = timeline.phases().values().stream().mapToLong(Summary::nanos).sum();
    root.set(KernelAttributes.PROCESS_ID, start.outcome().pid())
        .set(KernelAttributes.READY, start.outcome().ready().cause().word())
        .setMillis(KernelAttributes.OWN_MS, inPhases);
    if (start.outcome().listenNanos() > 0) {
      telemetry
          .span(KernelSpans.COLD_START_PART, "listen", root)
          .startingAt(clock.epochNanos(timeline.startNanos()))
          .start()
          .closeAt(clock.epochNanos(start.outcome().listenNanos()));
    }
    if (start.outcome().lost() > 0) {
      root.set(KernelAttributes.DROPPED, start.outcome().lost());
    }
    root.closeAt(clock.epochNanos(timeline.endNanos()));
  }

  private void write(Explained gap) {
    Activity longest = gap.activity();
    OperationSpan span =
        telemetry
            .span(KernelSpans.COLD_START_PART, "gap", root)
            .set(KernelAttributes.PROCESS_ID, gap.thread().pid())
            .set(KernelAttributes.THREAD_STATE, longest.state().word())
            .set(KernelAttributes.THREAD_SYSCALL, longest.call().isEmpty() ? null : longest.call())
            .startingAt(clock.epochNanos(gap.startNanos()))
            .start();
    span.setMillis(KernelAttributes.OWN_MS, gap.endNanos() - gap.startNanos());
    span.closeAt(clock.epochNanos(gap.endNanos()));
  }

  private void write(Phase phase, Summary sum) {
    OperationSpan span =
        telemetry
            .span(KernelSpans.COLD_START_PART, phase.word(), root)
            .set(KernelAttributes.COUNT, sum.evidence())
            .startingAt(clock.epochNanos(sum.startNanos()))
            .start();
    span.setMillis(KernelAttributes.OWN_MS, sum.nanos());
    span.closeAt(clock.epochNanos(sum.endNanos()));
  }
}
