package io.inferspan.gateway;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The bridge to code that looks for the trace on its thread: it makes a request's context
 * OpenTelemetry's current one, and puts its ids where a logging library looks for them.
 *
 * <p>Nothing of ours needs it. With SLF4J it is {@code new CurrentRequest(MDC::put, MDC::remove)}.
 */
public final class CurrentRequest {

  /** Under which a logging library finds the trace id. */
  public static final String TRACE_ID = "trace_id";

  /** Under which a logging library finds the span id. */
  public static final String SPAN_ID = "span_id";

  private final BiConsumer<String, String> put;
  private final Consumer<String> remove;

  /** A bridge to a map of diagnostic context that belongs to the thread. */
  public CurrentRequest(BiConsumer<String, String> put, Consumer<String> remove) {
    this.put = put;
    this.remove = remove;
  }

  /** A bridge to OpenTelemetry's current context alone. */
  public static CurrentRequest withoutLogs() {
    return new CurrentRequest((key, value) -> {}, key -> {});
  }

  /** Makes {@code context} the thread's own until the scope is closed, on the same thread. */
  @SuppressWarnings("MustBeClosedChecker") // closed by the scope that is returned
  public Scope enter(Context context) {
    Context outer = Context.current();
    Scope scope = context.makeCurrent();
    tell(context);
    return () -> {
      scope.close();
      tell(outer);
    };
  }

  private void tell(Context context) {
    SpanContext span = Span.fromContext(context).getSpanContext();
    if (span.isValid()) {
      put.accept(TRACE_ID, span.getTraceId());
      put.accept(SPAN_ID, span.getSpanId());
    } else {
      remove.accept(TRACE_ID);
      remove.accept(SPAN_ID);
    }
  }

  /** Runs {@code code} as a part of {@code context}. */
  public void run(Context context, Runnable code) {
    try (Scope ignored = enter(context)) {
      code.run();
    }
  }
}
