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
 * Makes a request's context the current context of OpenTelemetry, and writes its ids into a logging
 * library's thread-local context (MDC).
 *
 * <p>It is optional. With SLF4J, use {@code new CurrentRequest(MDC::put, MDC::remove)}. Exceptions
 * of the two functions are caught and logged at {@code DEBUG}.
 */
public final class CurrentRequest {

  /** The logging library's key for the trace id. */
  public static final String TRACE_ID = "trace_id";

  /** The logging library's key for the span id. */
  public static final String SPAN_ID = "span_id";

  private static final Logger LOGGER = System.getLogger("io.inferspan.gateway");

  private final BiConsumer<String, String> put;
  private final Consumer<String> remove;

  /** Creates an instance that also writes the ids to a logging library, such as SLF4J's MDC. */
  public CurrentRequest(BiConsumer<String, String> put, Consumer<String> remove) {
    this.put = put;
    this.remove = remove;
  }

  /** Returns an instance that sets only OpenTelemetry's current context. */
  public static CurrentRequest withoutLogs() {
    return new CurrentRequest((key, value) -> {}, key -> {});
  }

  /**
   * Makes {@code context} current until the scope is closed, which must happen on the same thread.
   */
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

  /** Sets an id. If the user's function throws, logs lack the id, and the request continues. */
  private void setId(String key, @Nullable String id) {
    try {
      if (id == null) {
        remove.accept(key);
      } else {
        put.accept(key, id);
      }
    } catch (RuntimeException e) {
      LOGGER.log(Level.DEBUG, "The diagnostic context (MDC) threw {0}", e.getClass().getName());
    }
  }

  /** Runs {@code code} with {@code context} as the current context. */
  public void run(Context context, Runnable code) {
    try (Scope ignored = enter(context)) {
      code.run();
    }
  }
}
