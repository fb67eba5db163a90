package io.inferspan.samples.desk.store;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The status of a request. */
public enum Status {
  /** The request succeeded. */
  OK,
  /** The request failed. */
  ERROR,
  /** The root span has not arrived yet. */
  OPEN,
  /** A parent span is missing, and no span has arrived for a while. */
  BROKEN;

  /** The name on the page. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The status of that name, or null. */
  public static @Nullable Status named(String label) {
    for (Status status : values()) {
      if (status.label().equals(label)) {
        return status;
      }
    }
    return null;
  }
}
