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
  /** A parent span is missing, and no new span has arrived for 1.2 seconds. */
  BROKEN;

  /** Returns the name that the page shows. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the status with this label, or null. */
  public static @Nullable Status named(String label) {
    for (Status status : values()) {
      if (status.label().equals(label)) {
        return status;
      }
    }
    return null;
  }
}
