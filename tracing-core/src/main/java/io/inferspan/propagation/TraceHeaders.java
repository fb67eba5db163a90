package io.inferspan.propagation;

import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the headers in which a trace travels.
 *
 * <p>Carriers are seen through OpenTelemetry's getters and setters. A getter must find names in any
 * case, and a setter must replace what stands under a name; {@link HeaderMap} does both for a map.
 */
public final class TraceHeaders {

  private static final String BAGGAGE = "baggage";

  /** The headers that a gateway takes out of what it forwards before it writes its own. */
  public static final List<String> NAMES =
      List.of(Traceparent.NAME, TracestateHeader.NAME, BAGGAGE);

  private static final W3CBaggagePropagator BAGGAGE_HEADER = W3CBaggagePropagator.getInstance();

  private final boolean traceContext;
  private final boolean baggage;

  private TraceHeaders(boolean traceContext, boolean baggage) {
    this.traceContext = traceContext;
    this.baggage = baggage;
  }

  /** Those of our headers that {@code propagator} handles; null where it handles others, too. */
  public static @Nullable TraceHeaders of(TextMapPropagator propagator) {
    Collection<String> fields = propagator.fields();
    if (!NAMES.containsAll(fields)) {
      return null;
    }
    return new TraceHeaders(fields.contains(Traceparent.NAME), fields.contains(BAGGAGE));
  }

  /** The remote parent, or null where there is none or the header is malformed. */
  public <C> @Nullable SpanContext readParent(@Nullable C carrier, TextMapGetter<C> getter) {
    if (!traceContext) {
      return null;
    }
    String traceparent = getter.get(carrier, Traceparent.NAME);
    if (traceparent == null) {
      return null;
    }
    String tracestate = joined(carrier, getter, TracestateHeader.NAME);
    return Traceparent.parse(
        traceparent,
        tracestate == null ? TraceState.getDefault() : TracestateHeader.parse(tracestate));
  }

  /** The {@code context}, with the baggage that came in added to it. */
  public <C> Context readBaggage(Context context, @Nullable C carrier, TextMapGetter<C> getter) {
    if (!baggage || getter.get(carrier, BAGGAGE) == null) {
      return context;
    }
    Iterator<String> values = getter.getAll(carrier, BAGGAGE);
    while (values.hasNext()) {
      if (!BaggageSyntax.isPlain(values.next())) {
        return context;
      }
    }
    return BAGGAGE_HEADER.extract(context, carrier, getter);
  }

  /**
   * Writes the header of {@code parent}, which must be valid, and the baggage of {@code context}.
   */
  public <C> void write(
      SpanContext parent, Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    write(traceparent(parent), parent.getTraceState(), context, carrier, setter);
  }

  /** The same, with a {@code traceparent} that was built before. */
  public <C> void write(
      String traceparent,
      TraceState state,
      Context context,
      @Nullable C carrier,
      TextMapSetter<C> setter) {
    if (traceContext) {
      setter.set(carrier, Traceparent.NAME, traceparent);
      if (!state.isEmpty()) {
        setter.set(carrier, TracestateHeader.NAME, TracestateHeader.format(state));
      }
    }
    writeBaggage(context, carrier, setter);
  }

  /** Writes the baggage of {@code context} alone, where there is no trace to continue. */
  public <C> void writeBaggage(Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    if (baggage) {
      BAGGAGE_HEADER.inject(context, carrier, setter);
    }
  }

  /** The {@code traceparent} that carries {@code parent}, which must be valid. */
  public static String traceparent(SpanContext parent) {
    return Traceparent.format(parent);
  }

  /** A header that may stand there more than once, as the one list that it means. */
  private static <C> @Nullable String joined(
      @Nullable C carrier, TextMapGetter<C> getter, String name) {
    String first = getter.get(carrier, name);
    if (first == null) {
      return null;
    }
    Iterator<String> values = getter.getAll(carrier, name);
    StringBuilder list = null;
    for (int i = 0; values.hasNext(); i++) {
      String value = values.next();
      if (i == 1) {
        list = new StringBuilder(first);
      }
      if (list != null) {
        list.append(',').append(value);
      }
    }
    return list == null ? first : list.toString();
  }
}
