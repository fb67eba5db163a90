package io.inferspan.samples.demo.engine;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An engine's behaviour, which a request header selects. Gateway and sidecar forward the header.
 */
public enum Behaviour {
  /** Normal timing. */
  NORMAL,
  /** Prefill takes several times as long. */
  SLOW_PREFILL,
  /** Prefill fails with status 500. */
  FAILING_PREFILL,
  /** The response is long. */
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
