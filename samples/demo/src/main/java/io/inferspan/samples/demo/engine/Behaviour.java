package io.inferspan.samples.demo.engine;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What an engine is asked to play, by a header that passes gateway and sidecar. */
public enum Behaviour {
  /** Nothing in particular. */
  NORMAL,
  /** Its prefill takes several times as long. */
  SLOW_PREFILL,
  /** Its prefill ends with status 500. */
  FAILING_PREFILL,
  /** It does not come to an end soon. */
  LONG_ANSWER;

  /** The header that asks for it. */
  public static final String HEADER = "x-demo-behaviour";

  /** Its value. */
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
