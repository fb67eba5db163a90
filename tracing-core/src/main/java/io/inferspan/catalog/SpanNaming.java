package io.inferspan.catalog;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A naming scheme of llm-d's spans. */
public enum SpanNaming {
  /** The names of the tracing proposal and of releases 0.6 to 0.8. */
  PROPOSAL("llm-d-proposal"),
  /** The names of releases 0.9 and 0.10. */
  V0_9("llm-d-0.9"),
  /** The names after 0.10. */
  CURRENT("llm-d-current");

  private final String setting;

  SpanNaming(String setting) {
    this.setting = setting;
  }

  /** Returns the value of {@code INFERSPAN_SPAN_NAMES} that selects this scheme. */
  public String setting() {
    return setting;
  }

  /** Returns the scheme that {@code setting} selects, or null if it is unknown. */
  public static @Nullable SpanNaming fromSetting(String setting) {
    for (SpanNaming naming : values()) {
      if (naming.setting.equals(setting)) {
        return naming;
      }
    }
    return null;
  }

  /** Returns the allowed settings, for error messages. */
  public static String settings() {
    return Arrays.stream(values()).map(SpanNaming::setting).collect(Collectors.joining(", "));
  }
}
