package io.inferspan.propagation;

import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes headers in a map, ignoring the case of names.
 *
 * <p>Setting a value replaces all values of the name. Setting {@code traceparent} also removes
 * {@code tracestate}, which may belong to another trace.
 */
public enum HeaderMap
    implements TextMapGetter<Map<String, String>>, TextMapSetter<Map<String, String>> {
  /** The only instance; it has no state. */
  HEADERS;

  @Override
  public @Nullable String get(@Nullable Map<String, String> headers, String name) {
    if (headers == null) {
      return null;
    }
    String value = headers.get(name);
    return value != null ? value : inAnyCase(headers, name);
  }

  private static @Nullable String inAnyCase(Map<String, String> headers, String name) {
    for (Map.Entry<String, String> header : headers.entrySet()) {
      if (name.equalsIgnoreCase(header.getKey())) {
        return header.getValue();
      }
    }
    return null;
  }

  @Override
  public void set(@Nullable Map<String, String> headers, String name, String value) {
    if (headers == null) {
      return;
    }
    if (!headers.isEmpty()) {
      headers.keySet().removeIf(other -> name.equalsIgnoreCase(other) && !name.equals(other));
      if (name.equals(Traceparent.NAME)) {
        // The caller sets the matching tracestate next.
        headers.keySet().removeIf(TracestateHeader.NAME::equalsIgnoreCase);
      }
    }
    headers.put(name, value);
  }
}
