package io.inferspan.catalog;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Generations of llm-d's span names. */
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

  /** The value of {@code INFERSPAN_SPAN_NAMES} that chooses this generation. */
  public String setting() {
    return setting;
  }

  /** The generation that {@code setting} chooses, or null where it is none of them. */
  public static @Nullable SpanNaming fromSetting(String setting) {
    for (SpanNaming naming : values()) {
      if (naming.setting.equals(setting)) {
        return naming;
      }
    }
    return null;
  }

  /** The allowed settings, for an error message. */
  public static String settings() {
    return Arrays.stream(values()).map(SpanNaming::setting).collect(Collectors.joining(", "));
  }
}
