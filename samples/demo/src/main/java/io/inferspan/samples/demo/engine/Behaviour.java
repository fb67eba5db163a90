package io.inferspan.samples.demo.engine;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** An engine's behaviour, requested by a header that gateway and sidecar forward. */
public enum Behaviour {
  /** As usual. */
  NORMAL,
  /** Its prefill takes several times as long. */
  SLOW_PREFILL,
  /** Its prefill ends with status 500. */
  FAILING_PREFILL,
  /** Its answer is long. */
  LONG_ANSWER;

  /** The header's name. */
  public static final String HEADER = "x-demo-behaviour";

  /** The header's value. */
  public String value() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static Behaviour of(@Nullable String value) {
    for (Behaviour behaviour : values()) {
      if (behaviour.value().equals(value)) {
        return behaviour;
      }
    }
    return NORMAL;
  }
}
