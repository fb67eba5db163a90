package io.inferspan.semconv;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Selects the keys of attributes that the GenAI semantic conventions have renamed. */
public enum GenAiConvention {
  /**
   * The keys that llm-d, vLLM and SGLang write today, such as {@code gen_ai.usage.prompt_tokens}.
   */
  LEGACY,
  /** The keys of the current conventions, such as {@code gen_ai.usage.input_tokens}. */
  LATEST,
  /** Both keys, for a migration. */
  BOTH;

  private static final String OPT_IN = "gen_ai_latest_experimental";
  private static final String OPT_IN_BOTH = OPT_IN + "/dup";

  /** Reads the comma-separated value of {@code OTEL_SEMCONV_STABILITY_OPT_IN}. */
  public static GenAiConvention fromOptIn(@Nullable String optIn) {
    if (optIn == null) {
      return LEGACY;
    }
    List<String> tokens = Arrays.stream(optIn.split(",")).map(String::trim).toList();
    if (tokens.contains(OPT_IN_BOTH)) {
      return BOTH;
    }
    return tokens.contains(OPT_IN) ? LATEST : LEGACY;
  }

  /** Returns whether {@link Attribute#key()} is written. */
  public boolean writesLegacy() {
    return this != LATEST;
  }

  /** Returns whether {@link Attribute#latestKey()} is written. */
  public boolean writesLatest() {
    return this != LEGACY;
  }
}
