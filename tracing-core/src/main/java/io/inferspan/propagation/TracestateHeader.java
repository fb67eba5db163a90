package io.inferspan.propagation;

import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Parses and formats the {@code tracestate} header.
 *
 * <p>A malformed header is dropped as a whole; the {@code traceparent} stays valid.
 */
final class TracestateHeader {

  static final String NAME = "tracestate";

  /** The maximum number of members, as W3C specifies. */
  static final int MAX_MEMBERS = 32;

  static final int MAX_CHARS = 8_192;

  private TracestateHeader() {}

  static TraceState parse(@Nullable String header) {
    if (header == null || header.isEmpty() || header.length() > MAX_CHARS) {
      return TraceState.getDefault();
    }
    String[] members = header.split(",", -1);
    TraceStateBuilder builder = TraceState.builder();
    int count = 0;
    // From the last to the first, because the builder prepends.
    for (int i = members.length - 1; i >= 0; i--) {
      String member = members[i].strip();
      if (member.isEmpty()) {
        continue;
      }
      int equals = member.indexOf('=');
      if (equals <= 0 || ++count > MAX_MEMBERS) {
        return TraceState.getDefault();
      }
      builder.put(member.substring(0, equals), member.substring(equals + 1));
    }
    // The builder drops invalid members and merges duplicates, so fewer members mean an error.
    TraceState state = builder.build();
    return state.size() == count ? state : TraceState.getDefault();
  }

  static String format(TraceState state) {
    StringBuilder header = new StringBuilder();
    state.forEach(
        (key, value) -> {
          if (header.length() > 0) {
            header.append(',');
          }
          header.append(key).append('=').append(value);
        });
    return header.toString();
  }
}
