package io.inferspan.samples.desk.store;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a request stands. */
public enum Status {
  /** It has ended well. */
  OK,
  /** It has ended badly. */
  ERROR,
  /** Its first span has not come yet; others still do. */
  OPEN,
  /** A span that others hang under has not come, and nothing has come for a while. */
  BROKEN;

  /** The name that people see. */
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
