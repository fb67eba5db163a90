package io.inferspan.gateway;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The bridge to code that looks for the trace on its thread: it makes a request's context
 * OpenTelemetry's current one, and puts its ids where a logging library looks for them.
 *
 * <p>Nothing of ours needs it. With SLF4J it is {@code new CurrentRequest(MDC::put, MDC::remove)}.
 * Exceptions of these two are caught, and logged at {@code DEBUG}.
 */
public final class CurrentRequest {

  /** Under which a logging library finds the trace id. */
  public static final String TRACE_ID = "trace_id";

  /** Under which a logging library finds the span id. */
  public static final String SPAN_ID = "span_id";

  private static final Logger LOGGER = System.getLogger("io.inferspan.gateway");

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
    setIds(context);
    return () -> {
      scope.close();
      setIds(outer);
    };
  }

  private void setIds(Context context) {
    SpanContext span = Span.fromContext(context).getSpanContext();
    setId(TRACE_ID, span.isValid() ? span.getTraceId() : null);
    setId(SPAN_ID, span.isValid() ? span.getSpanId() : null);
  }

  /** The map is the user's: if it throws, logs lack an id, and the request goes on. */
  private void setId(String key, @Nullable String id) {
    try {
      if (id == null) {
        remove.accept(key);
      } else {
        put.accept(key, id);
      }
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "The map of diagnostic context threw {0}", e.getClass().getName());
    }
  }

  /** Runs {@code code} as a part of {@code context}. */
  public void run(Context context, Runnable code) {
    try (Scope ignored = enter(context)) {
      code.run();
    }
  }
}
