package io.inferspan.propagation;

import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the headers that propagate a trace.
 *
 * <p>Carriers are accessed by OpenTelemetry's getters and setters. A getter must ignore the case of
 * names, and a setter must replace existing values; {@link HeaderMap} does both for a map.
 */
public final class TraceHeaders {

  private static final String BAGGAGE = "baggage";

  /** The headers that a gateway removes from a forwarded request before it writes its own. */
  public static final List<String> NAMES =
      List.of(Traceparent.NAME, TracestateHeader.NAME, BAGGAGE);

  private static final W3CBaggagePropagator BAGGAGE_HEADER = W3CBaggagePropagator.getInstance();

  private final boolean traceContext;
  private final boolean baggage;

  private TraceHeaders(boolean traceContext, boolean baggage) {
    this.traceContext = traceContext;
    this.baggage = baggage;
  }

  /**
   * Returns a fast equivalent of a propagator, or null unless it consists of the SDK's propagators
   * for W3C trace context and baggage. Any other propagator may do more, such as remove untrusted
   * headers. A composite is compared by its {@code toString()}, because it does not expose its
   * parts.
   */
  public static @Nullable TraceHeaders of(TextMapPropagator propagator) {
    TextMapPropagator context = W3CTraceContextPropagator.getInstance();
    for (List<TextMapPropagator> parts :
        List.of(
            List.of(context, BAGGAGE_HEADER),
            List.of(BAGGAGE_HEADER, context),
            List.of(context),
            List.<TextMapPropagator>of(BAGGAGE_HEADER),
            List.<TextMapPropagator>of())) {
      TextMapPropagator composite = TextMapPropagator.composite(parts);
      if (composite.getClass() == propagator.getClass()
          && composite.toString().equals(propagator.toString())) {
        return new TraceHeaders(parts.contains(context), parts.contains(BAGGAGE_HEADER));
      }
    }
    return null;
  }

  /** Returns the remote parent, or null if the header is absent, repeated or malformed. */
  public <C> @Nullable SpanContext readParent(@Nullable C carrier, TextMapGetter<C> getter) {
    if (!traceContext) {
      return null;
    }
    String traceparent = only(carrier, getter, Traceparent.NAME);
    if (traceparent == null) {
      return null;
    }
    String tracestate = joined(carrier, getter, TracestateHeader.NAME);
    return Traceparent.parse(
        traceparent,
        tracestate == null ? TraceState.getDefault() : TracestateHeader.parse(tracestate));
  }

  /** Returns {@code context} with the received baggage. */
  public <C> Context readBaggage(Context context, @Nullable C carrier, TextMapGetter<C> getter) {
    if (!baggage || getter.get(carrier, BAGGAGE) == null) {
      return context;
    }
    Iterator<String> values = getter.getAll(carrier, BAGGAGE);
    while (values.hasNext()) {
      if (!isPlain(values.next())) {
        return context;
      }
    }
    return BAGGAGE_HEADER.extract(context, carrier, getter);
  }

  /**
   * Returns whether a {@code baggage} header is printable ASCII without quotes and backslashes, in
   * which each percent sign begins an escape. OpenTelemetry logs a warning for any other header,
   * which would let a client flood the log.
   */
  private static boolean isPlain(String header) {
    for (int i = 0; i < header.length(); i++) {
      char c = header.charAt(i);
      boolean printable = c == '\t' || (c >= ' ' && c < 0x7f);
      if (!printable || c == '"' || c == '\\' || (c == '%' && !isEscape(header, i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isEscape(String header, int percent) {
    return percent + 2 < header.length()
        && Character.digit(header.charAt(percent + 1), 16) >= 0
        && Character.digit(header.charAt(percent + 2), 16) >= 0;
  }

  /**
   * Writes the header of {@code parent}, which must be valid, and the baggage of {@code context}.
   */
  public <C> void write(
      SpanContext parent, Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    write(traceparent(parent), parent.getTraceState(), context, carrier, setter);
  }

  /** Writes a preformatted {@code traceparent}, and the baggage of {@code context}. */
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

  /** Writes only the baggage of {@code context}. */
  public <C> void writeBaggage(Context context, @Nullable C carrier, TextMapSetter<C> setter) {
    if (baggage) {
      BAGGAGE_HEADER.inject(context, carrier, setter);
    }
  }

  /** Returns the {@code traceparent} of {@code parent}, which must be valid. */
  public static String traceparent(SpanContext parent) {
    return Traceparent.format(parent);
  }

  /** Returns the only value of a header; null if it is absent or repeated. */
  private static <C> @Nullable String only(
      @Nullable C carrier, TextMapGetter<C> getter, String name) {
    String first = getter.get(carrier, name);
    if (first == null) {
      return null;
    }
    Iterator<String> values = getter.getAll(carrier, name);
    if (values.hasNext()) {
      values.next();
    }
    return values.hasNext() ? null : first;
  }

  /** Returns the values of a list header, joined by commas. */
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
